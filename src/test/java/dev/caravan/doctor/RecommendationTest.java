package dev.caravan.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.store.Mount;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecommendationTest {
    @ParameterizedTest
    @CsvSource({
        "false,     5,      0, 45, 10",
        "false,     5,  12000, 45, 10",
        "false,     5,  13000, 50, 10",
        "false,     5,  60000, 140, 10",
        "false,  1000,      0, 90, 20",
        "true,      5,      5, 10, 2",
        "true,    185,    275, 20, 4",
    })
    void lease_and_heartbeat_follow_the_slowest_write_and_the_longest_delay(
            boolean local, long writeMillis, long delayMillis, long lease, long heartbeat) {
        assertThat(Recommendation.of(local, Duration.ofMillis(writeMillis), Duration.ofMillis(delayMillis)))
                .isEqualTo(new Recommendation(Duration.ofSeconds(lease), Duration.ofSeconds(heartbeat)));
    }

    @ParameterizedTest
    @CsvSource({
        "ext4,           rw,                     0",
        "fuse.glusterfs, rw,                     0",
        "nfs,            rw;hard,                60",
        "nfs4,           rw;vers=4.2;acregmax=5, 5",
        "nfs4,           rw;actimeo=120,         120",
        "nfs4,           rw;noac,                0",
    })
    void one_node_alone_goes_by_what_the_mount_says_of_its_cache(String type, String options, long seconds) {
        assertThat(Recommendation.attributeCache(new Mount("/m", type, "server:/x", List.of(options.split(";")))))
                .isEqualTo(Duration.ofSeconds(seconds));
    }
}
