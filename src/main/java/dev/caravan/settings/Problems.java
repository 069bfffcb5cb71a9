package dev.caravan.settings;

import java.util.ArrayList;
import java.util.List;

/** Everything that is wrong with what a person wrote, gathered so that it is reported at once. Not thread-safe. */
public final class Problems {
    private final List<String> problems = new ArrayList<>();

    /**
     * @param where {@code file:line}, or whatever else a person can go to
     * @param what the key, what was expected, what was found, what to do
     */
    public void add(String where, String what) {
        problems.add(where + ": " + what);
    }

    public boolean isEmpty() {
        return problems.isEmpty();
    }

    public List<String> list() {
        return List.copyOf(problems);
    }

    /** The heading and each problem on a line of its own. */
    public String report(String heading) {
        return heading + "\n  " + String.join("\n  ", problems);
    }

    public static String at(String source, int line) {
        return source + ":" + line;
    }
}
