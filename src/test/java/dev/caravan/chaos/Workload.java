package dev.caravan.chaos;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Rows, and a quick shell script that makes each {@code red} of them {@code blue}: some shards at once, some in a moment.
 *
 * @param restMillis how long every fourth shard takes; the others take an eighth of it
 */
record Workload(int shards, int rowsPerShard, int restMillis) {
    private static final String SCRIPT = """
            case $(cksum < "$1") in [0-9]*[048]' '*) sleep %s;; *) sleep %s;; esac
            exec sed 's/red/blue/' "$1" > "$2"
            """;

    /** @param folder as the test sees it */
    void write(Path folder) throws IOException {
        Files.writeString(folder.resolve("rows.jsonl"), rows());
        Files.writeString(folder.resolve("work.sh"), SCRIPT.formatted(restMillis / 1000.0, restMillis / 8000.0));
    }

    private String rows() {
        return IntStream.range(0, shards * rowsPerShard)
                .mapToObj(i -> "{\"id\": %d, \"colour\":\"red\", \"n\": 1.%d0e+2, \"text\":\"caf\\u00e9 \\/ “%s”\"}\n"
                        .formatted(i, i % 10, Integer.toString(i * 7919, 36).repeat(60 + i % 40)))
                .collect(Collectors.joining());
    }

    byte[] expected() {
        return rows().replace("red", "blue").getBytes(StandardCharsets.UTF_8);
    }

    /** @param folder as the nodes see it */
    String descriptor(String name, Path folder) {
        return """
                name: %s
                engine: command
                command: [sh, %s/work.sh, '{input}', '{output}']
                dataset_path: %s/rows.jsonl
                num_shards: %d
                policy: {max_retries: 0, max_infra_retries: 1000}
                """.formatted(name, folder, folder, shards);
    }
}
