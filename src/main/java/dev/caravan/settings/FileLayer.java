package dev.caravan.settings;

import dev.caravan.settings.YamlNode.Entry;
import dev.caravan.settings.YamlNode.Items;
import dev.caravan.settings.YamlNode.Mapping;
import dev.caravan.settings.YamlNode.Scalar;
import dev.caravan.store.Disk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** One file of the user's: sets keys of the schema, and hands keys of Camel on untouched. */
final class FileLayer {
    static final String NAME = "caravan.yaml";
    private static final String CAMEL = "camel.";

    private final Draft draft;
    private final String source;
    private final Map<String, Integer> lines = new TreeMap<>();

    private FileLayer(Draft draft, String source) {
        this.draft = draft;
        this.source = source;
    }

    /** @param config a file, or a folder that holds {@link #NAME} */
    static void apply(Path config, Draft draft) {
        Path file = Disk.isDirectory(config) ? config.resolve(NAME) : config;
        try {
            Optional<byte[]> content = Disk.readIfPresent(file);
            if (content.isEmpty()) {
                draft.problems().add(file.toString(), "expected a settings file, found none; check the path");
                return;
            }
            Mapping root = YamlReader.read(content.get(), file.toString(), draft.problems());
            new FileLayer(draft, file.toString()).section("", root);
        } catch (IOException e) {
            draft.problems().add(file.toString(), "cannot be read: " + e);
        }
    }

    private void section(String prefix, Mapping mapping) {
        for (Entry entry : mapping.entries()) {
            String key = prefix + entry.key();
            if (entry.value() instanceof Mapping nested && !draft.knows(key)) {
                section(key + ".", nested);
            } else if (!isEmptySection(key, entry) && isFirst(key, entry)) {
                set(key, entry);
            }
        }
    }

    /** A section whose keys are all commented out. */
    private boolean isEmptySection(String key, Entry entry) {
        return entry.value() instanceof YamlNode.Nothing && (draft.hasSection(key) || isCamel(key + "."));
    }

    /** {@code claim.lease: 8s} and {@code claim: {lease: 8s}} are the same key. */
    private boolean isFirst(String key, Entry entry) {
        Integer first = lines.putIfAbsent(key, entry.line());
        if (first != null) {
            problem(entry, key + ": given twice, first in line " + first + "; remove one");
        }
        return first == null;
    }

    private void set(String key, Entry entry) {
        if (isCamel(key)) {
            camel(key, entry);
        } else if (draft.hasSection(key)) {
            problem(
                    entry,
                    key + ": expected a section with keys of its own (" + draft.keysOf(key) + "), found "
                            + entry.value().found());
        } else if (!draft.knows(key)) {
            problem(entry, key + ": unknown key" + Nearest.question(key, draft.keys()));
        } else if (entry.value() instanceof Scalar value) {
            draft.set(key, value.text(), where(entry));
        } else {
            problem(
                    entry,
                    key + ": " + draft.get(key).kind().expected() + ", found "
                            + entry.value().found() + "; remove the line to keep the default");
        }
    }

    private void camel(String key, Entry entry) {
        if (entry.value() instanceof Scalar value) {
            draft.setCamel(key, value.text(), where(entry));
        } else if (entry.value() instanceof Items list && list.items().stream().allMatch(Scalar.class::isInstance)) {
            List<YamlNode> items = list.items();
            draft.setCamel(
                    key,
                    items.stream().map(item -> ((Scalar) item).text()).collect(Collectors.joining(",")),
                    where(entry));
        } else {
            problem(
                    entry,
                    key + ": expected a value or a list of values, found "
                            + entry.value().found());
        }
    }

    private static boolean isCamel(String key) {
        return key.startsWith(CAMEL);
    }

    private String where(Entry entry) {
        return Problems.at(source, entry.line());
    }

    private void problem(Entry entry, String what) {
        draft.problems().add(where(entry), what);
    }
}
