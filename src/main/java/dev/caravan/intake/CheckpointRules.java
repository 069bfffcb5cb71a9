package dev.caravan.intake;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.shard.Checkpoint;
import dev.caravan.store.CheckpointFolder;
import dev.caravan.store.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** Which work may have a checkpoint, and which may go on with one that is there. */
final class CheckpointRules {
    private CheckpointRules() {}

    /** @throws IntakeException with every reason why not */
    static void check(PrepareRequest request) throws IOException {
        Checkpoint checkpoint = request.execution().checkpoint();
        RecipeFacts recipe = request.recipe();
        if (checkpoint == null || recipe == null) {
            return;
        }
        List<String> obstacles = recipe.checkpoint().obstacles();
        if (!obstacles.isEmpty()) {
            throw new IntakeException("the job cannot have a checkpoint, since its records must stand alone:\n  "
                    + String.join("\n  ", obstacles) + "\nRemove these operators, or the section checkpoint");
        }
        if (checkpoint.path() != null) {
            Path path = Path.of(checkpoint.path());
            if (path.startsWith(request.datasetPath())) {
                throw new IntakeException("checkpoint.path " + path + " lies in the dataset path "
                        + request.datasetPath() + "; choose a place outside");
            }
            requireSameWork(path, identity(request, checkpoint, recipe));
        }
    }

    /** What a node would write as the identity of what it commits. */
    private static JsonNode identity(PrepareRequest request, Checkpoint checkpoint, RecipeFacts recipe)
            throws IOException {
        Map<String, Object> identity = new TreeMap<>(recipe.checkpoint().identity());
        identity.putAll(checkpoint.identity(request.policy()));
        return Json.tree(Json.bytes(identity));
    }

    private static void requireSameWork(Path path, JsonNode asked) throws IOException {
        Optional<JsonNode> before = new CheckpointFolder(path).identity();
        if (before.isEmpty() || before.get().equals(asked)) {
            return;
        }
        TreeSet<String> names = new TreeSet<>();
        before.get().fieldNames().forEachRemaining(names::add);
        asked.fieldNames().forEachRemaining(names::add);
        List<String> differing = new ArrayList<>();
        for (String name : names) {
            JsonNode was = before.get().get(name);
            JsonNode is = asked.get(name);
            if (was == null || !was.equals(is)) {
                differing.add(name + " was " + was + ", is " + is);
            }
        }
        throw new IntakeException("the checkpoint in " + path + " was made by other work: "
                + String.join("; ", differing) + ". Undo the change; or, to start anew, remove the checkpoint or name"
                + " another checkpoint.path");
    }
}
