package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The place of a shard in its job: {@code part-00003-of-00016} is the fourth of sixteen. */
public record ShardId(int index, int count) implements Comparable<ShardId> {
    private static final Pattern FORM = Pattern.compile("part-(\\d{5,})-of-(\\d{5,})");

    public ShardId {
        if (count < 1 || index < 0 || index >= count) {
            throw new IllegalArgumentException("shard " + index + " of " + count + " does not exist");
        }
    }

    @JsonCreator
    public static ShardId parse(String text) {
        Matcher m = FORM.matcher(text);
        if (!m.matches()) {
            throw new IllegalArgumentException("not a shard id (expected part-00003-of-00016): " + text);
        }
        return new ShardId(Integer.parseInt(m.group(1)), Integer.parseInt(m.group(2)));
    }

    @Override
    public int compareTo(ShardId other) {
        int byIndex = Integer.compare(index, other.index);
        return byIndex != 0 ? byIndex : Integer.compare(count, other.count);
    }

    @JsonValue
    @Override
    public String toString() {
        return "part-" + digits(index) + "-of-" + digits(count);
    }

    /** At least five; made by hand, since nodes name all shards of a job again and again. */
    private static String digits(int number) {
        String digits = Integer.toString(number);
        return "00000".substring(Math.min(digits.length(), 5)) + digits;
    }
}
