package dev.caravan.shard;

/**
 * An input line that was set aside because it is not a record.
 *
 * @param record number in the whole input, from 0, of the record that the line would be; quarantined lines count
 * @param file the input file, absolute
 * @param line 1-based
 * @param offset of the line's first byte in the file's text: unpacked, a byte order mark included
 * @param length in bytes, without the line end
 * @param reason what is wrong with it
 * @param sha256 of its bytes, hex
 */
public record Quarantined(
        long record, String file, long line, long offset, long length, String reason, String sha256) {}
