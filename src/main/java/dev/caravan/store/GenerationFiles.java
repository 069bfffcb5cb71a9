package dev.caravan.store;

import dev.caravan.shard.RoleResult;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The facts of one generation of a job: what was asked for, and how its roles ended. */
public final class GenerationFiles {
    private final Layout.Generation layout;

    public GenerationFiles(Layout.Generation layout) {
        this.layout = layout;
    }

    /** @return whether {@code canonical} is what this generation is asked for: nobody asked for anything else before */
    public boolean agreeOn(byte[] canonical) throws IOException {
        Disk.createDirectories(layout.path());
        return Disk.publish(layout.descriptor(), canonical);
    }

    public Optional<byte[]> descriptor() throws IOException {
        return Disk.readIfPresent(layout.descriptor());
    }

    private record Asked(@Nullable Integer priority) {}

    /** What the descriptor asks for; 0 if it asks for none, or if there is no descriptor. */
    public int priority() {
        return JobFiles.parse(Disk.SHARED, layout.descriptor(), Asked.class)
                .map(Asked::priority)
                .orElse(0);
    }

    public Optional<RoleResult> prepareResult() {
        return JobFiles.parse(Disk.SHARED, layout.prepareResult(), RoleResult.class);
    }

    public Optional<RoleResult> finalizeResult() {
        return JobFiles.parse(Disk.SHARED, layout.finalizeResult(), RoleResult.class);
    }

    /** @return whether this result is the first; the first stands */
    public boolean publishPrepared(RoleResult result) throws IOException {
        return Disk.publish(layout.prepareResult(), Json.bytes(result));
    }

    /** @return whether this result is the first; the first stands */
    public boolean publishFinalized(RoleResult result) throws IOException {
        return Disk.publish(layout.finalizeResult(), Json.bytes(result));
    }
}
