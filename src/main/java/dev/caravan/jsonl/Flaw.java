package dev.caravan.jsonl;

/**
 * Why a line is not a record.
 *
 * @param position of the first byte that is wrong, from the start of the line; the line's length if something is missing
 * @param reason for people; does not repeat the line's text
 */
public record Flaw(int position, String reason) {}
