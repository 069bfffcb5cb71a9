package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a status needs of the {@link Manifest}, read from the same file: a good part of a manifest of many shards is what
 * only those who do the work need.
 *
 * @param quarantine null if no input line was set aside
 */
@JsonIgnoreProperties(ignoreUnknown = true) // else Jackson keeps a copy of what it does not know
public record JobOutline(
        String jobId,
        long totalRows,
        List<Shard> shards,
        String output,
        @Nullable Quarantine quarantine) {
    public JobOutline {
        shards = List.copyOf(shards);
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Shard(ShardId id, long rows) {}

    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Quarantine(Records records) {
        @JsonIgnoreProperties(ignoreUnknown = true)
        public record Records(long rows) {}
    }

    /** How many input lines were set aside. */
    public long quarantined() {
        return quarantine == null ? 0 : quarantine.records().rows();
    }
}
