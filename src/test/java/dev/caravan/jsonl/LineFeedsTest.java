package dev.caravan.jsonl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LineFeedsTest {
    @Test
    void line_feeds_among_all_bytes_are_counted_for_every_length() {
        Random random = new Random(1);
        for (int length = 0; length < 300; length++) {
            byte[] bytes = new byte[length + 3];
            random.nextBytes(bytes);
            for (int i = 0; i < bytes.length; i += 1 + random.nextInt(4)) {
                bytes[i] = (byte) ('\n' + random.nextInt(3) - 1);
            }
            long expected = 0;
            for (byte b : Arrays.copyOf(bytes, length)) {
                expected += b == '\n' ? 1 : 0;
            }
            assertThat(LineFeeds.count(bytes, length)).as("length %d", length).isEqualTo(expected);
        }
    }
}
