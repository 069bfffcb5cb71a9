package dev.caravan.doctor;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.caravan.store.Mount;
import java.util.List;
import java.util.Optional;

/**
 * What one node found out about the mount of a root; kept under the root.
 *
 * @param nodes ids of all nodes that measured together
 * @param longestDelayMillis until another process saw a change: there and back, so rather too much
 */
public record Diagnosis(
        String node,
        String hostname,
        String measuredAt,
        String root,
        Mount mount,
        List<String> nodes,
        List<Measured> properties,
        long slowestWriteMillis,
        long longestDelayMillis,
        Recommendation recommended) {

    public Diagnosis {
        nodes = List.copyOf(nodes);
        properties = List.copyOf(properties);
    }

    @JsonProperty
    public Grade verdict() {
        return properties.stream().map(Measured::grade).reduce(Grade.OK, Grade::or);
    }

    /** Why Caravan must not run here; empty if it may. */
    @JsonIgnore
    public Optional<String> refusal() {
        return refusal(properties, mount);
    }

    static Optional<String> refusal(List<Measured> properties, Mount mount) {
        return properties.stream()
                .filter(found -> found.grade() == Grade.FAIL)
                .map(found -> found.property() + ": " + found.measured() + " ("
                        + found.property().why() + ")")
                .reduce((one, other) -> one + "; " + other)
                .map(failed -> "Caravan must not run on the mount " + mount + ": " + failed);
    }
}
