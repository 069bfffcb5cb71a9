package dev.caravan.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.settings.Settings;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KnownNodesTest {
    private static final Instant NOW = Instant.parse("2026-03-04T05:06:07Z");

    @TempDir
    Path folder;

    private Layout.Root root;
    private final Settings settings = Settings.load(List.of(), Map.of(), new Properties());

    @BeforeEach
    void a_root() throws IOException {
        root = new Layout.Root(folder);
        Disk.createDirectories(root.nodes());
    }

    private void node(String id, int slots, Instant seen, @Nullable Instant left) throws IOException {
        Disk.replace(
                root.node(id),
                Json.bytes(new Presence.Fact(
                        id,
                        id,
                        1,
                        NOW.toString(),
                        slots,
                        0,
                        List.of(),
                        10_000,
                        0,
                        1,
                        0,
                        false,
                        null,
                        1,
                        seen.toString(),
                        left == null ? null : left.toString())));
    }

    @Test
    void a_job_has_the_slots_of_the_nodes_that_were_there_lately() throws IOException {
        node("a", 2, NOW, null);
        node("b", 3, NOW.minusSeconds(200), null);
        node("killed", 50, NOW.minusSeconds(3_600), null);
        node("left", 70, NOW, NOW);

        assertThat(KnownNodes.slots(root.job("j"), settings)).isEqualTo(5);
    }

    @Test
    void a_job_without_known_nodes_has_those_of_this_one() {
        assertThat(KnownNodes.slots(root.job("j"), settings)).isEqualTo(1);
        assertThat(KnownNodes.slots(new Layout.Job(folder.resolve("alone")), settings))
                .isEqualTo(1);
    }
}
