package dev.caravan.store;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.shard.ShardId;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Optional;

/** Where jobs that ask for it leave their commit logs, for jobs after them: a folder for each shard. */
public record CheckpointFolder(Path path) {
    private static final String LOG = ".log";
    private static final int DIGITS = 16;

    /** @param sha256 of the shard: another content is another folder */
    public Path shard(ShardId id, String sha256) {
        return path.resolve(id + "-" + sha256.substring(0, DIGITS));
    }

    /** What the work was that committed something here. Where there are several, they are of the same work. */
    public Optional<JsonNode> identity() throws IOException {
        if (!Disk.isDirectory(path)) {
            return Optional.empty();
        }
        for (String shard : Disk.list(path)) {
            if (!Disk.isDirectory(path.resolve(shard))) {
                continue;
            }
            for (String name : Disk.list(path.resolve(shard))) {
                Optional<JsonNode> found =
                        name.endsWith(LOG) ? identity(path.resolve(shard).resolve(name)) : Optional.empty();
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    /** Of the first line, unless the writer died in the middle of it. */
    private static Optional<JsonNode> identity(Path log) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        try (InputStream in = Disk.open(log)) {
            for (int b = in.read(); b >= 0 && b != '\n'; b = in.read()) {
                line.write(b);
            }
        }
        try {
            return Optional.ofNullable(Json.tree(line.toByteArray()).get("identity"));
        } catch (JacksonException torn) {
            return Optional.empty();
        }
    }
}
