package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.caravan.shard.Manifest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PreparePropertyTest {
    private static final String[] BODIES = {
        "{}", "{\"t\":\"中\u2028\"}", "{ \"idx\" : 9 }", "{\"images\":[\"p.png\"],\"n\":1.0}", "{\"images\":null}\t"
    };

    @TempDir
    Path folder;

    @Test
    void shards_together_are_the_normalised_input_for_every_input_and_number_of_shards() throws IOException {
        long seed = Long.getLong("caravan.seed", System.nanoTime());
        System.out.println("PreparePropertyTest seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 150; round++) {
            Scene scene = new Scene(folder.toRealPath().resolve("r" + round));
            boolean withRecipe = random.nextBoolean();
            if (withRecipe) {
                scene.recipe("r", Map.of("image", "images"), List.of("idx"));
            }
            List<String> records = write(scene, random);
            scene.shards = 1 + random.nextInt(records.size());

            Manifest manifest = scene.prepare().manifest();

            List<String> shards = scene.shardTexts(manifest);
            String all = String.join("", shards);
            String expected = expected(records, withRecipe, scene.input);
            assertThat(all).as("seed %d round %d", seed, round).isEqualTo(expected);
            assertThat(manifest.normalizedSha256()).isEqualTo(PrepareTest.sha256(expected));
            assertThat(manifest.totalSizeBytes()).isEqualTo(expected.getBytes(StandardCharsets.UTF_8).length);
            assertThat(manifest.totalRows()).isEqualTo(records.size());
            assertThat(shards).hasSize(scene.shards).noneMatch(String::isEmpty);
            for (int k = 0; k < shards.size(); k++) {
                Manifest.Shard shard = manifest.shards().get(k);
                byte[] bytes = shards.get(k).getBytes(StandardCharsets.UTF_8);
                assertThat(shard.bytes()).isEqualTo(bytes.length);
                assertThat(shard.rows())
                        .isEqualTo(shards.get(k).chars().filter(c -> c == '\n').count());
                assertThat(shard.sha256()).isEqualTo(PrepareTest.sha256(bytes));
            }
            assertThat(manifest.inputFiles().stream()
                            .mapToLong(Manifest.InputFile::rows)
                            .sum())
                    .isEqualTo(records.size());
        }
    }

    /** @return the records in the order in which the job must have them */
    private static List<String> write(Scene scene, Random random) throws IOException {
        Map<String, List<String>> files = new TreeMap<>();
        for (int k = 1 + random.nextInt(4); k > 0; k--) {
            List<String> records = new ArrayList<>();
            for (int n = random.nextInt(40); n > 0; n--) {
                records.add(
                        random.nextInt(20) == 0
                                ? "{\"long\":\"" + "y".repeat(random.nextInt(600_000)) + "\"}"
                                : BODIES[random.nextInt(BODIES.length)]);
            }
            files.put((char) ('a' + random.nextInt(26)) + (random.nextBoolean() ? "/" : "") + k + ".jsonl", records);
        }
        files.put("zz.jsonl", List.of("{}"));
        List<String> all = new ArrayList<>();
        for (Map.Entry<String, List<String>> file : files.entrySet()) {
            String end = random.nextBoolean() ? "\n" : "\r\n";
            String text = (random.nextInt(3) == 0 ? "\uFEFF" : "") + String.join(end, file.getValue());
            scene.write(file.getKey(), text + (random.nextBoolean() ? "" : end + end));
            all.addAll(file.getValue());
        }
        return all;
    }

    /** Normalising by way of a tree, for the few shapes that {@link #BODIES} has. */
    private static String expected(List<String> records, boolean withRecipe, Path root) throws IOException {
        StringBuilder all = new StringBuilder();
        for (int row = 0; row < records.size(); row++) {
            String record = records.get(row);
            if (withRecipe) {
                JsonNode tree = new JsonMapper().readTree(record);
                String index = (tree.isEmpty() ? "" : ",") + "\"idx\":" + row + "}";
                record = record.replace("\"p.png\"", "\"" + root + "/p.png\"");
                record = tree.has("idx") ? record : record.replaceFirst("}", index.replace("$", "\\$"));
            }
            all.append(record).append('\n');
        }
        return all.toString();
    }
}
