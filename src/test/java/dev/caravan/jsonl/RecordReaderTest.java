package dev.caravan.jsonl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RecordReaderTest {
    private record Seen(String text, long number, long offset, boolean terminated) {}

    @Test
    void cuts_at_line_feeds_only_and_knows_number_and_offset() throws IOException {
        assertThat(read("a\u2028b\n\ncd\r\ne\rf", 64))
                .containsExactly(
                        new Seen("a\u2028b", 1, 0, true),
                        new Seen("", 2, 6, true),
                        new Seen("cd", 3, 7, true),
                        new Seen("e\rf", 4, 11, false));
    }

    @Test
    void a_byte_order_mark_counts_for_the_offset_but_not_for_the_line() throws IOException {
        assertThat(read("\uFEFFa\n\uFEFFb\n", 64))
                .containsExactly(new Seen("a", 1, 3, true), new Seen("\uFEFFb", 2, 5, true));
        assertThat(read("\uFEFF", 64)).isEmpty();
    }

    @Test
    void lines_are_the_same_for_every_buffer_size_and_every_way_the_source_delivers() throws IOException {
        long seed = Long.getLong("caravan.seed", System.nanoTime());
        System.out.println("RecordReaderTest seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 3000; round++) {
            StringBuilder text = new StringBuilder(random.nextInt(3) == 0 ? "\uFEFF" : "");
            for (int k = random.nextInt(30); k > 0; k--) {
                text.append("x".repeat(random.nextInt(12))).append(random.nextInt(4) == 0 ? "\r" : "");
                text.append(random.nextBoolean() ? "\n" : "");
            }
            List<Seen> expected = expected(text.toString());
            assertThat(read(text.toString(), 4 + random.nextInt(20), random))
                    .as("seed %d", seed)
                    .isEqualTo(expected);
        }
    }

    /** The same rules, written the slow way. */
    private static List<Seen> expected(String text) {
        long offset = text.startsWith("\uFEFF") ? 3 : 0;
        String rest = text.startsWith("\uFEFF") ? text.substring(1) : text;
        List<Seen> lines = new ArrayList<>();
        while (!rest.isEmpty()) {
            int lineFeed = rest.indexOf('\n');
            String raw = lineFeed < 0 ? rest : rest.substring(0, lineFeed);
            String line = raw.endsWith("\r") ? raw.substring(0, raw.length() - 1) : raw;
            lines.add(new Seen(line, lines.size() + 1, offset, lineFeed >= 0));
            rest = lineFeed < 0 ? "" : rest.substring(lineFeed + 1);
            offset += raw.length() + 1;
        }
        return lines;
    }

    private static List<Seen> read(String text, int bufferSize) throws IOException {
        return read(text, bufferSize, new Random(1));
    }

    private static List<Seen> read(String text, int bufferSize, Random pieces) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        InputStream in = new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] b, int from, int length) {
                return super.read(b, from, 1 + pieces.nextInt(length));
            }
        };
        RecordReader reader = new RecordReader("x.jsonl", in, bufferSize);
        List<Seen> lines = new ArrayList<>();
        for (Line line = reader.next(); line != null; line = reader.next()) {
            String content = new String(line.buffer(), line.from(), line.length(), StandardCharsets.UTF_8);
            lines.add(new Seen(content, line.number(), line.offset(), line.terminated()));
        }
        assertThat(reader.next()).isNull();
        return lines;
    }
}
