package dev.caravan.shard;

import org.jspecify.annotations.Nullable;

/**
 * How a job takes input lines that are not records.
 *
 * @param most how many may be quarantined; null means no limit
 * @param mostPercent how many of 100 lines of the whole input; blank lines do not count; null means no limit
 */
public record BadRecords(
        OnBadRecord on, @Nullable Long most, @Nullable Double mostPercent) {
    public static final BadRecords FAIL = new BadRecords(OnBadRecord.FAIL, null, null);
}
