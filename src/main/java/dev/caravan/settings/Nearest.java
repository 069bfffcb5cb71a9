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

    /** Insertions, removals, replacements, and swaps of neighbours, between two words. */
    private static int edits(String a, String b) {
        int[][] edits = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    edits[i][j] = i + j;
                    continue;
                }
                int replaced = edits[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                edits[i][j] = Math.min(replaced, 1 + Math.min(edits[i - 1][j], edits[i][j - 1]));
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    edits[i][j] = Math.min(edits[i][j], edits[i - 2][j - 2] + 1);
                }
            }
        }
        return edits[a.length()][b.length()];
    }
}
