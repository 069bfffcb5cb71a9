package dev.caravan.intake;

import dev.caravan.jsonl.Flaw;
import dev.caravan.jsonl.JsonText;
import dev.caravan.jsonl.Line;
import dev.caravan.jsonl.Members;
import dev.caravan.jsonl.Members.Span;
import dev.caravan.jsonl.Splice;
import dev.caravan.jsonl.StringList;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Makes a record independent of where its file lies and of which shard it is in:
 *
 * <ul>
 *   <li>Relative media paths get the media root put in front of them, as text; {@code ..} stays. Absolute paths, URLs
 *       of any scheme and empty strings stay.
 *   <li>An absent index key is added with the record's global row number, from 0. A value that is there stays, null
 *       too.
 * </ul>
 *
 * Every other byte of the record stays as it is.
 */
final class Normalizer {
    private static final Pattern URL = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://.*", Pattern.DOTALL);

    private final List<String> mediaKeys;
    private final List<String> indexKeys;
    private final @Nullable IdColumn idColumn;
    private final Members.Keys keys;
    private final int idKey;
    private final byte[] prefix;

    /** @param idColumn null if records need no ids */
    Normalizer(
            Collection<String> mediaKeys, Collection<String> indexKeys, Path mediaRoot, @Nullable IdColumn idColumn) {
        this.mediaKeys = mediaKeys.stream().distinct().sorted().toList();
        this.indexKeys = indexKeys.stream().distinct().toList();
        List<String> all = new ArrayList<>(this.mediaKeys);
        all.addAll(this.indexKeys);
        this.idColumn = idColumn;
        if (idColumn != null && !all.contains(idColumn.name())) {
            all.add(idColumn.name());
        }
        this.idKey = idColumn == null ? -1 : all.indexOf(idColumn.name());
        this.keys = new Members.Keys(all);
        String root = mediaRoot.toString();
        this.prefix = JsonText.escaped(root.endsWith("/") ? root : root + "/").getBytes(StandardCharsets.UTF_8);
    }

    /** Records that follow are from this file. */
    void begin(Path file) {
        if (idColumn != null) {
            idColumn.begin(file);
        }
    }

    /** @param row global number of the record, from 0 */
    Rewrite rewrite(Line record, long row) {
        if (mediaKeys.isEmpty() && indexKeys.isEmpty() && idColumn == null) {
            return Rewrite.SAME;
        }
        Members members = Members.find(record, keys);
        List<Splice> changes = new ArrayList<>();
        for (int key = 0; key < mediaKeys.size(); key++) {
            Optional<Span> value = members.value(key);
            if (value.isPresent() && StringList.read(record, value.get()) instanceof StringList.SomethingElse other) {
                return new Rewrite.Refused(new Flaw(
                        other.at() - record.from(),
                        "media key '" + mediaKeys.get(key) + "' must hold a list of strings, or null"));
            }
            value.ifPresent(span -> addRoot(record, span, changes));
        }
        changes.sort(Comparator.comparingInt(Splice::from));
        List<String> absent = new ArrayList<>();
        for (int key = 0; key < indexKeys.size(); key++) {
            if (members.value(mediaKeys.size() + key).isEmpty()) {
                absent.add(indexKeys.get(key));
            }
        }
        if (idColumn != null) {
            String filledIn = indexKeys.contains(idColumn.name()) ? Long.toString(row) : null;
            Optional<Flaw> flaw = idColumn.take(record, members.value(idKey), filledIn);
            if (flaw.isPresent()) {
                return new Rewrite.Refused(flaw.get());
            }
        }
        if (!absent.isEmpty()) {
            changes.add(members.append(absent, Long.toString(row)));
        }
        return changes.isEmpty() ? Rewrite.SAME : new Rewrite.Changed(Splice.apply(record, changes));
    }

    private void addRoot(Line record, Span value, List<Splice> changes) {
        if (StringList.read(record, value) instanceof StringList.Items list) {
            for (Span item : list.items()) {
                if (isRelative(JsonText.unescaped(record.buffer(), item.from(), item.to()))) {
                    changes.add(Splice.insert(item.from(), prefix));
                }
            }
        }
    }

    private static boolean isRelative(String path) {
        return !path.isEmpty() && !path.startsWith("/") && !URL.matcher(path).matches();
    }
}
