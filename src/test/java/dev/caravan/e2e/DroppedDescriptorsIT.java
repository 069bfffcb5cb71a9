package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class DroppedDescriptorsIT {
    @RegisterExtension
    final Fleet fleet = new Fleet().with("intake.settle", "1500ms");

    private final int rows = 6;

    private Sample sample(String name) {
        return new Sample(fleet.folder(), name, rows, 2).written("");
    }

    @Test
    void a_node_accepts_what_is_complete_and_new_and_explains_what_it_rejects() throws Exception {
        Sample slow = sample("slow");
        Path root = slow.root();
        Path inbox = Files.createDirectories(root.resolve("inbox"));
        Sample.write(inbox.resolve("bad.yaml"), """
                name: bad
                engine: command
                comand: [sh, x.sh, '{input}', '{output}']
                dataset_path: rows.jsonl
                num_shards: none
                """);
        CaravanProcess node = fleet.start("node", "--root", root.toString());

        writeSlowly(inbox.resolve("slow.yaml"), Sample.read(slow.descriptor()));
        Sample json = sample("json");
        Sample.write(inbox.resolve("any-name.JSON"), """
                {"name": "json", "engine": "command", "num_shards": 2, "dataset_path": "%s",
                 "command": ["cp", "{input}", "{output}"]}
                """.formatted(json.input()));

        awaitMerged(slow, node);
        awaitMerged(json, node);
        assertThat(slow.inRoot().mergedByDefault()).content().isEqualTo(slow.expected());
        assertThat(json.inRoot().mergedByDefault()).hasSameTextualContentAs(json.input());
        Path rejected = inbox.resolve(".rejected");
        Await.until("one is rejected", () -> Files.exists(rejected.resolve("bad.yaml")), node::toString);
        assertThat(Sample.names(rejected)).containsExactly("bad.yaml", "bad.yaml.error.txt");
        assertThat(rejected.resolve("bad.yaml.error.txt"))
                .content()
                .contains("bad.yaml:3: comand: unknown field; did you mean command?", "bad.yaml:5: num_shards");
        assertThat(Sample.names(inbox.resolve(".accepted"))).containsExactly("any-name.JSON", "slow.yaml");
        assertThat(Sample.names(root.resolve("jobs"))).as("jobs").doesNotContain("bad", ".bad.coordination");

        Sample.write(inbox.resolve("other.yaml"), slow.yaml("policy: {max_retries: 9}"));
        Sample.write(inbox.resolve("again.yaml"), slow.yaml());
        Await.until(
                "the one is rejected and the other accepted",
                () -> Files.exists(rejected.resolve("other.yaml"))
                        && Files.exists(inbox.resolve(".accepted").resolve("again.yaml")),
                node::toString);
        assertThat(rejected.resolve("other.yaml.error.txt"))
                .content()
                .contains("job slow exists already with other content");

        String[] wait = {"submit", slow.descriptor().toString(), "--root", root.toString(), "--wait", "--json"};
        assertThat(fleet.run(wait).endsWith(0).json().at("/rows").asInt()).isEqualTo(rows);
        Sample.write(slow.descriptor(), slow.yaml("policy: {max_retries: 9}"));
        assertThat(fleet.run(wait).endsWith(2).stderr()).contains("rejected", "exists already with other content");
        assertThat(slow.runs()).as("runs").hasSize(2);
    }

    /** Without a pause as long as the settle time, though it takes longer in all. */
    private static void writeSlowly(Path file, String text) throws IOException, InterruptedException {
        int pieces = 20;
        for (int i = 0; i < pieces; i++) {
            String piece = text.substring(text.length() * i / pieces, text.length() * (i + 1) / pieces);
            Files.writeString(file, piece, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            Thread.sleep(100);
        }
    }

    private static void awaitMerged(Sample job, CaravanProcess node) {
        Await.until(
                job.name() + " is merged",
                () -> Files.exists(job.inRoot().mergeRecord()) || !node.isAlive(),
                node::toString);
    }
}
