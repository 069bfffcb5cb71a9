package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShardCutsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            1 1 1 1 1 1         | 3 | 0 0 1 1 2 2
            1 1 1 1 1           | 2 | 0 0 1 1 1
            1 1 1000 1 1        | 3 | 0 0 1 2 2
            1000 1 1            | 3 | 0 1 2
            1 1 1000            | 3 | 0 1 2
            1000 1 1 1          | 2 | 0 1 1 1
            1 1 1 1000          | 2 | 0 0 0 1
            5 5 5               | 1 | 0 0 0
            7                   | 1 | 0
            """)
    void cuts_near_the_ideal_places_and_leaves_no_shard_empty(String sizes, int shards, String expected) {
        long[] lengths =
                Arrays.stream(sizes.split(" ")).mapToLong(Long::parseLong).toArray();

        assertThat(cut(lengths, shards))
                .containsExactly(Arrays.stream(expected.split(" "))
                        .mapToInt(Integer::parseInt)
                        .toArray());
    }

    @Test
    void every_shard_has_records_in_order_and_as_many_bytes_as_the_ideal_but_for_one_record() {
        long seed = Long.getLong("caravan.seed", System.nanoTime());
        System.out.println("ShardCutsTest seed " + seed);
        Random random = new Random(seed);
        int balanced = 0;
        for (int round = 0; round < 5000; round++) {
            int largest = 1 + random.nextInt(random.nextBoolean() ? 10 : 5000);
            long[] lengths = LongStream.generate(() -> 3 + random.nextInt(largest))
                    .limit(1 + random.nextInt(200))
                    .toArray();
            int shards = 1 + random.nextInt(lengths.length);
            long[] bytes = new long[shards];
            int before = 0;
            int[] cuts = cut(lengths, shards);
            for (int k = 0; k < cuts.length; k++) {
                assertThat(cuts[k]).as("seed %d", seed).isBetween(before, Math.min(before + 1, shards - 1));
                before = cuts[k];
                bytes[cuts[k]] += lengths[k];
            }
            assertThat(bytes).as("seed %d: no shard is empty", seed).doesNotContain(0);
            double ideal = (double) Arrays.stream(lengths).sum() / shards;
            long longest = Arrays.stream(lengths).max().orElseThrow();
            if (ideal >= 2 * longest) {
                balanced++;
                for (long size : bytes) {
                    assertThat(Math.abs(size - ideal)).as("seed %d", seed).isLessThanOrEqualTo(longest + 1.0);
                }
            }
        }
        assertThat(balanced).as("rounds with small records").isGreaterThan(500);
    }

    @Test
    void sizes_beyond_what_a_product_of_two_longs_holds_are_cut_evenly() {
        long length = 1L << 45; // 35 TB each
        int rows = 200_000;
        ShardCuts cuts = new ShardCuts(rows, rows * length, 100_000);
        for (int k = 0; k < rows; k++) {
            assertThat(cuts.shardOfNext(length)).isEqualTo(k / 2);
        }
    }

    @Test
    void records_behind_the_measured_input_stay_in_the_last_shard() {
        ShardCuts cuts = new ShardCuts(2, 20, 2);

        assertThat(new int[] {cuts.shardOfNext(10), cuts.shardOfNext(10), cuts.shardOfNext(10), cuts.shardOfNext(99)})
                .containsExactly(0, 1, 1, 1);
    }

    private static int[] cut(long[] lengths, int shards) {
        ShardCuts cuts = new ShardCuts(lengths.length, Arrays.stream(lengths).sum(), shards);
        return Arrays.stream(lengths).mapToInt(cuts::shardOfNext).toArray();
    }
}
