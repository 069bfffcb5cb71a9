package dev.caravan.jsonl;

/**
 * What a run of records amounts to when each is written with one line feed.
 *
 * @param sha256 of those bytes, hex
 */
public record Tally(long rows, long bytes, String sha256) {}
