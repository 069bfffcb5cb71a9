package dev.caravan.settings;

import java.util.Properties;
import java.util.TreeSet;

/** Options such as {@code -Dcaravan.claim.lease=8s}. */
final class PropertyLayer {
    private PropertyLayer() {}

    static void apply(Properties properties, Draft draft) {
        for (String name : new TreeSet<>(properties.stringPropertyNames())) {
            if (!name.startsWith(Settings.PREFIX)) {
                continue;
            }
            String key = name.substring(Settings.PREFIX.length());
            if (draft.knows(key)) {
                draft.set(key, properties.getProperty(name), "-D" + name);
            } else {
                String question = Nearest.to(key, draft.keys())
                        .map(near -> "; did you mean -D" + Settings.PREFIX + near + "?")
                        .orElse("");
                draft.problems().add("-D" + name, "unknown setting" + question);
            }
        }
    }
}
