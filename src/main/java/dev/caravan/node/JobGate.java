package dev.caravan.node;

import dev.caravan.exec.Gpus;
import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/** Decides whether this node can work on a job's shards: an unchanged recipe, the same code version, enough GPUs. */
final class JobGate {
    private final Gpus gpus;
    private final PythonLink python;

    JobGate(Gpus gpus, PythonLink python) {
        this.gpus = gpus;
        this.python = python;
    }

    Optional<String> refusal(JobFiles job, Manifest manifest) {
        Double wanted = manifest.execution().ray().numGpus();
        if (wanted != null && wanted > gpus.count()) {
            return Optional.of("a shard asks for " + wanted + " GPUs and this node has " + gpus.count()
                    + "; lower ray.num_gpus, or set gpus.logical to pretend");
        }
        if (manifest.execution().engine() == Engine.DATA_JUICER) {
            return changedRecipe(job, manifest).or(() -> python.mismatch(manifest.codeVersion()));
        }
        return Optional.empty();
    }

    private static Optional<String> changedRecipe(JobFiles job, Manifest manifest) {
        Manifest.Recipe recipe = Objects.requireNonNull(manifest.recipe(), "a job of Data-Juicer has a recipe");
        Path snapshot = job.layout().resolve(recipe.snapshotPath());
        String found;
        try {
            found = Sha256.hex(Disk.read(snapshot));
        } catch (IOException e) {
            return Optional.of("cannot read the recipe snapshot: " + e.getMessage());
        }
        return found.equals(recipe.sha256())
                ? Optional.empty()
                : Optional.of("the recipe snapshot " + snapshot + " was changed since prepare (SHA-256 " + found
                        + ", expected " + recipe.sha256() + "): a changed recipe needs a new job");
    }
}
