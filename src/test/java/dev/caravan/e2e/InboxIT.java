package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class InboxIT {
    @RegisterExtension
    final Fleet fleet = new Fleet();

    @Test
    void three_nodes_race_for_500_shards_and_each_runs_once() {
        Sample job = new Sample(fleet.folder(), "race", 2_000, 500).written("");
        fleet.run("submit", job.descriptor().toString(), "--root", job.root().toString())
                .endsWith(0);

        List<CaravanProcess> nodes = Stream.generate(
                        () -> fleet.start("node", "--root", job.root().toString(), "--once"))
                .limit(3)
                .toList();
        nodes.forEach(node -> node.endsWith(0));

        assertThat(job.runs().stream().map(run -> run.split(" ")[0]))
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 500).mapToObj(job::shard).toList());
        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
        String jobDir = job.inRoot().path().toString();
        JsonNode status =
                fleet.run("status", "--job-dir", jobDir, "--json").endsWith(0).json();
        assertThat(status.at("/state").asText()).isEqualTo("done");
        assertThat(status.at("/shards/total").asInt()).isEqualTo(500);
        assertThat(status.at("/shards/done").asInt()).isEqualTo(500);
        assertThat(List.of(
                        status.at("/shards/pending").asInt(),
                        status.at("/shards/running").asInt(),
                        status.at("/shards/failed").asInt()))
                .containsOnly(0);
        assertThat(status.at("/rows/total").asInt()).isEqualTo(2_000);
        assertThat(status.at("/rows/done").asInt()).isEqualTo(2_000);
        assertThat(status.at("/rows/out").asInt()).isEqualTo(2_000);
        assertThat(status.at("/nodes"))
                .as("nodes that took part")
                .hasSize(3)
                .allMatch(node -> node.at("/done").asInt() > 0);
        assertThat(fleet.run("verify", "--job-dir", jobDir).endsWith(0).stdout())
                .endsWith("PASS\n");
    }
}
