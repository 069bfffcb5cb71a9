package dev.caravan.jsonl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class RecordWriterTest {
    private static final int BUFFER = 1 << 18;

    @Test
    void records_around_the_size_of_the_buffer_come_out_whole() throws IOException {
        for (int first : new int[] {0, 1, BUFFER / 2}) {
            for (int length = BUFFER - first - 4; length < BUFFER - first + 4; length++) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                RecordWriter writer = new RecordWriter(out);
                byte[] records = new byte[first + 1 + length + 1 + 3 + 1];
                Arrays.fill(records, (byte) 'x');
                records[first] = '\n';
                records[first + 1 + length] = '\n';
                records[records.length - 1] = '\n';

                writer.write(records, 0, first);
                writer.write(records, first + 1, first + 1 + length);
                writer.write(records, records.length - 4, records.length - 1);

                assertThat(writer.tally()).isEqualTo(new Tally(3, records.length, Sha256.hex(records)));
                assertThat(Arrays.equals(out.toByteArray(), records))
                        .as("%d and %d bytes", first, length)
                        .isTrue();
            }
        }
    }

    @Test
    void a_tally_may_be_taken_on_the_way() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        RecordWriter writer = new RecordWriter(out);
        assertThat(writer.tally()).isEqualTo(new Tally(0, 0, Sha256.hex(new byte[0])));

        writer.write(new byte[] {'{', '}'}, 0, 2);
        assertThat(writer.tally()).isEqualTo(new Tally(1, 3, Sha256.hex(new byte[] {'{', '}', '\n'})));
        assertThat(out.size()).isEqualTo(3);

        writer.write(new byte[] {'{', '}'}, 0, 2);
        assertThat(writer.tally()).isEqualTo(new Tally(2, 6, Sha256.hex(out.toByteArray())));
    }
}
