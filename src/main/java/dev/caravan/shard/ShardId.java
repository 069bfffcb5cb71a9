package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/** The place of a shard in its job: {@code part-00003-of-00016} is the fourth of sixteen. */
public record ShardId(int index, int count) implements Comparable<ShardId> {
    private static final String BEFORE_INDEX = "part-";
    private static final String BEFORE_COUNT = "-of-";
    private static final int LEAST_DIGITS = 5;

    public ShardId {
        if (count < 1 || index < 0 || index >= count) {
            throw new IllegalArgumentException("shard " + index + " of " + count + " does not exist");
        }
    }

    /** By hand, since nodes read the names of all shards of a job again and again. */
    @JsonCreator
    public static ShardId parse(String text) {
        int count = text.indexOf(BEFORE_COUNT);
        if (!text.startsWith(BEFORE_INDEX)
                || !isNumber(text, BEFORE_INDEX.length(), count)
                || !isNumber(text, count + BEFORE_COUNT.length(), text.length())) {
            throw new IllegalArgumentException("not a shard id (expected part-00003-of-00016): " + text);
        }
        return new ShardId(
                Integer.parseInt(text, BEFORE_INDEX.length(), count, 10),
                Integer.parseInt(text, count + BEFORE_COUNT.length(), text.length(), 10));
    }

    private static boolean isNumber(String text, int from, int to) {
        for (int i = from; i < to; i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return to - from >= LEAST_DIGITS;
    }

    @Override
    public int compareTo(ShardId other) {
        int byIndex = Integer.compare(index, other.index);
        return byIndex != 0 ? byIndex : Integer.compare(count, other.count);
    }

    @JsonValue
    @Override
    public String toString() {
        return BEFORE_INDEX + digits(index) + BEFORE_COUNT + digits(count);
    }

    private static String digits(int number) {
        String digits = Integer.toString(number);
        return "0".repeat(Math.max(0, LEAST_DIGITS - digits.length())) + digits;
    }
}
