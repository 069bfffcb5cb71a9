package dev.caravan.intake;

import dev.caravan.store.Disk;
import dev.caravan.store.SourceTree;
import dev.caravan.store.SourceTree.Entry;
import dev.caravan.store.SourceTree.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The files a job reads, in the order of their records: by relative path, compared as UTF-8 bytes with {@code /}
 * between names. Names are taken literally; a suffix counts in upper and lower case.
 *
 * @param root folder against which relative media paths are resolved: the dataset folder, or the single file's
 * @param skipped what lies in the folder and is not read, for people
 */
record InputFiles(Path root, List<Path> files, List<String> skipped) {
    private static final Pattern INPUT = Pattern.compile(".*\\.(jsonl|ndjson)(\\.gz|\\.zst)?", Pattern.DOTALL);
    private static final Pattern OTHERWISE_COMPRESSED =
            Pattern.compile(".*\\.(jsonl|ndjson)\\.(gzip|zstd|bz2|xz|lz4|zip)", Pattern.DOTALL);
    private static final Comparator<String> BY_BYTES =
            (a, b) -> Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));

    InputFiles {
        files = List.copyOf(files);
        skipped = List.copyOf(skipped);
    }

    /** Whether a file of this name would be taken for input. */
    static boolean isInputName(Path file) {
        return matches(INPUT, file.getFileName().toString());
    }

    static InputFiles find(Path dataset) throws IOException {
        if (!NameList.isPrintable(dataset.toString())) {
            throw new IntakeException("dataset path '" + NameList.printable(dataset.toString())
                    + "' holds control characters: rename the file or folder");
        }
        if (Disk.isDirectory(dataset)) {
            return inFolder(dataset);
        }
        if (!Disk.exists(dataset)) {
            throw new IntakeException("dataset path " + dataset
                    + " does not exist on this node: expected a .jsonl file or a folder of them; check the path and"
                    + " that the shared directory is mounted");
        }
        refuseCompressed(List.of(dataset.toString()));
        if (!Disk.isFile(dataset) || !isInputName(dataset)) {
            throw new IntakeException("dataset path " + dataset
                    + " is neither a folder nor a file that ends in .jsonl or .ndjson, or that and .gz or .zst; if it does hold one JSON object"
                    + " per line, rename it");
        }
        Path folder = dataset.getParent();
        return new InputFiles(folder == null ? dataset : folder, List.of(dataset), List.of());
    }

    private static InputFiles inFolder(Path folder) throws IOException {
        Map<String, Path> files = new TreeMap<>(BY_BYTES);
        List<String> refused = new ArrayList<>();
        List<String> unreadable = new ArrayList<>();
        List<String> compressed = new ArrayList<>();
        List<String> broken = new ArrayList<>();
        Skipped skipped = new Skipped();
        for (Entry entry : SourceTree.of(folder)) {
            boolean input = matches(INPUT, entry.relative());
            if (entry.kind() == Kind.BROKEN_LINK && input) {
                broken.add(entry.relative());
            } else if (entry.kind() == Kind.FILE && matches(OTHERWISE_COMPRESSED, entry.relative())) {
                compressed.add(entry.relative());
            } else if (entry.kind() != Kind.FILE || !input) {
                skipped.add(entry);
            } else if (!entry.faithful()) {
                unreadable.add(entry.relative());
            } else if (!NameList.isPrintable(entry.relative())) {
                refused.add(entry.relative());
            } else {
                files.put(entry.relative(), entry.path());
            }
        }
        if (!SourceTree.readsUtf8Names()) {
            refuseUnreadable(folder, unreadable);
        }
        refuseNames(folder, refused);
        refuseBroken(folder, broken);
        refuseCompressed(compressed);
        skipped.addUnsupported(sorted(unreadable));
        if (files.isEmpty()) {
            throw new IntakeException(
                    "no input in folder " + folder + ": expected at least one file that ends in .jsonl"
                            + " or .ndjson, or that and .gz or .zst; " + String.join("; ", skipped.orNothing()));
        }
        return new InputFiles(folder, List.copyOf(files.values()), skipped.warnings());
    }

    private static void refuseNames(Path folder, List<String> names) {
        if (!names.isEmpty()) {
            throw new IntakeException("input files in " + folder + " have names that hold control characters: "
                    + NameList.of(sorted(names)) + ". Rename them");
        }
    }

    /** Names that may well be good, so that to leave the files out would lose data. */
    private static void refuseUnreadable(Path folder, List<String> names) {
        if (!names.isEmpty()) {
            throw new IntakeException("input files in " + folder + " have names that cannot be read, since the locale"
                    + " gives file names the character set " + SourceTree.charsetOfNames() + ": expected UTF-8. Start"
                    + " Caravan in a UTF-8 locale, such as LC_ALL=C.UTF-8. The names: " + NameList.of(sorted(names)));
        }
    }

    private static void refuseBroken(Path folder, List<String> names) {
        if (!names.isEmpty()) {
            throw new IntakeException("input files in " + folder + " are links to nothing: "
                    + NameList.of(sorted(names)) + ". Repair or remove them");
        }
    }

    private static void refuseCompressed(List<String> names) {
        List<String> compressed = names.stream()
                .filter(name -> matches(OTHERWISE_COMPRESSED, name))
                .toList();
        if (!compressed.isEmpty()) {
            throw new IntakeException(
                    "compressed input other than .gz and .zst is not supported: " + NameList.of(sorted(compressed))
                            + ". Unpack these files to .jsonl, compress them as .jsonl.gz or .jsonl.zst, or move them out of the input folder");
        }
    }

    private static List<String> sorted(List<String> names) {
        return names.stream().sorted(BY_BYTES).toList();
    }

    private static boolean matches(Pattern pattern, String name) {
        return pattern.matcher(name.toLowerCase(Locale.ROOT)).matches();
    }
}
