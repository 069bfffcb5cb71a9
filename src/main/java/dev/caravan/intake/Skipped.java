package dev.caravan.intake;

import dev.caravan.store.SourceTree.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What an input folder holds beside its input, by the reason for which it is not read. */
final class Skipped {
    private final Map<String, Set<String>> namesByReason = new TreeMap<>();
    private List<String> unsupported = List.of();

    void add(Entry entry) {
        namesByReason.computeIfAbsent(reason(entry), reason -> new TreeSet<>()).add(entry.relative());
    }

    /** Input by its suffix, of names that are not UTF-8. */
    void addUnsupported(List<String> names) {
        unsupported = names;
    }

    List<String> warnings() {
        List<String> warnings = new ArrayList<>();
        if (!unsupported.isEmpty()) {
            warnings.add("input files left out, since their names are not UTF-8, which is not supported ("
                    + unsupported.size() + "; rename them to have them read): " + NameList.all(unsupported));
        }
        namesByReason.forEach((reason, names) -> warnings.add(
                "skipped in the input folder (" + names.size() + " " + reason + "): " + NameList.of(names)));
        return warnings;
    }

    List<String> orNothing() {
        List<String> warnings = warnings();
        return warnings.isEmpty() ? List.of("found nothing at all") : warnings;
    }

    private static String reason(Entry entry) {
        return switch (entry.kind()) {
            case HIDDEN -> "hidden";
            case FILE -> "not .jsonl, .ndjson, or that and .gz or .zst";
            case LINK_TO_SEEN -> "linked to what is read already";
            case BROKEN_LINK -> "linked to nothing";
            case SPECIAL -> "neither file nor folder";
        };
    }
}
