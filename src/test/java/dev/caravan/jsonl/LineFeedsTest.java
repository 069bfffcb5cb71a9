package dev.caravan.jsonl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LineFeedsTest {
    private final Random random = new Random(1);

    /** Among bytes of any kind: line feeds, and what differs from one by one. */
    private byte[] bytes(int length, int apart) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        for (int i = 0; i < bytes.length; i += 1 + random.nextInt(apart)) {
            bytes[i] = (byte) ('\n' + random.nextInt(3) - 1);
        }
        return bytes;
    }

    @Test
    void the_next_line_feed_is_found_from_every_place() {
        for (int length = 0; length < 100; length++) {
            byte[] bytes = bytes(length + 3, 30);
            for (int from = 0; from <= length; from++) {
                int expected = from;
                while (expected < length && bytes[expected] != '\n') {
                    expected++;
                }
                assertThat(LineFeeds.next(bytes, from, length))
                        .as("from %d to %d", from, length)
                        .isEqualTo(expected);
            }
        }
    }

    @Test
    void line_feeds_among_all_bytes_are_counted_for_every_length() {
        for (int length = 0; length < 300; length++) {
            byte[] bytes = bytes(length + 3, 4);
            long expected = 0;
            for (byte b : Arrays.copyOf(bytes, length)) {
                expected += b == '\n' ? 1 : 0;
            }
            assertThat(LineFeeds.count(bytes, length)).as("length %d", length).isEqualTo(expected);
        }
    }
}
