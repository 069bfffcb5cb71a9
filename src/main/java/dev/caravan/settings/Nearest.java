package dev.caravan.settings;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Which known name a person most likely meant by an unknown one. */
public final class Nearest {
    private Nearest() {}

    /** Empty if nothing is near enough to be a help. Letter case, dashes and underscores do not count. */
    public static Optional<String> to(String unknown, Collection<String> known) {
        String wanted = plain(unknown);
        return known.stream()
                .filter(name -> distance(wanted, name) <= Math.max(1, wanted.length() / 3))
                .min(Comparator.comparingInt((String name) -> distance(wanted, name))
                        .thenComparing(Comparator.naturalOrder()));
    }

    /** {@code "; did you mean claim.lease?"}, or nothing. */
    public static String question(String unknown, Collection<String> known) {
        return to(unknown, known).map(name -> "; did you mean " + name + "?").orElse("");
    }

    /** To the whole name, or to its part after the last dot: people forget the section. */
    private static int distance(String wanted, String name) {
        String plain = plain(name);
        int whole = edits(wanted, plain);
        int dot = plain.lastIndexOf('.');
        return dot < 0 || wanted.indexOf('.') >= 0 ? whole : Math.min(whole, edits(wanted, plain.substring(dot + 1)));
    }

    private static String plain(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[_-]", "");
    }

    /** Insertions, removals and replacements between two words. */
    private static int edits(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
