package dev.caravan.exec;

import org.jspecify.annotations.Nullable;

/**
 * A record that the engine fails on: a line of an attempt's {@code failed-records.jsonl}.
 *
 * @param line of the shard that holds the record; the first is 1
 * @param sha256 of the record's bytes without the line end, hex
 * @param operator null where the engine does not tell
 */
record FailedRow(
        long line,
        String sha256,
        @Nullable String operator,
        @Nullable String errorClass,
        @Nullable String stackSha256,
        String error) {}
