package dev.caravan.intake;

import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * What prepare must know of a recipe.
 *
 * @param content the recipe file as it is; kept as the job's snapshot
 * @param mediaKeys record keys that hold lists of media paths, by kind (image, audio, video)
 * @param indexKeys record keys that are filled with the global row number where absent
 * @param warnings about the recipe, for the manifest
 * @param codeVersion of the engine that is to run it
 * @param checkpoint whether shards of it can be gone on with
 */
public record RecipeFacts(
        Path source,
        byte[] content,
        Map<String, String> mediaKeys,
        List<String> indexKeys,
        List<String> warnings,
        String codeVersion,
        Checkpoints checkpoint) {

    /**
     * @param obstacles why the recipe's records do not stand alone; empty if they do
     * @param identity what of the recipe decides what becomes of a record, by names for people
     */
    public record Checkpoints(List<String> obstacles, Map<String, Object> identity) {
        public static final Checkpoints UNKNOWN = new Checkpoints(List.of(), Map.of());

        public Checkpoints {
            obstacles = List.copyOf(obstacles);
            identity = Collections.unmodifiableMap(identity); // values may be null
        }
    }

    public RecipeFacts {
        content = content.clone();
        mediaKeys = Map.copyOf(mediaKeys);
        indexKeys = List.copyOf(indexKeys);
        warnings = List.copyOf(warnings);
    }

    @Override
    public byte[] content() {
        return content.clone();
    }
}
