package dev.caravan.node;

import dev.caravan.exec.Gpus;
import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.Engine;
import dev.caravan.shard.GpuDemand;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.Script;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import dev.caravan.store.ScriptFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Decides whether this node can work on a job's shards: an unchanged recipe or script, the same code version, enough GPUs. */
final class JobGate {
    private final Gpus gpus;
    private final PythonLink python;
    private final Layout.@Nullable Root root;

    /** @param root where the other nodes are known; null for a node that works on one job directory */
    JobGate(Gpus gpus, PythonLink python, Layout.@Nullable Root root) {
        this.gpus = gpus;
        this.python = python;
        this.root = root;
    }

    Optional<String> refusal(JobFiles job, Manifest manifest) {
        GpuDemand wanted = manifest.execution().ray().gpuDemand();
        if (!wanted.isMetBy(gpus.names().size())) {
            return Optional.of("a shard asks for GPUs: " + wanted + ", this node has "
                    + KnownNodes.describe(gpus.names()) + othersHave(wanted));
        }
        if (manifest.execution().engine() == Engine.DATA_JUICER) {
            return changedRecipe(job, manifest).or(() -> python.mismatch(manifest.codeVersion()));
        }
        Script script = manifest.execution().script();
        return script == null ? Optional.empty() : changedScript(job, script);
    }

    private static Optional<String> changedScript(JobFiles job, Script script) {
        Path folder = job.layout().script();
        try {
            String found = ScriptFolder.snapshot(folder).sha256();
            return found.equals(script.sha256())
                    ? Optional.empty()
                    : Optional.of("the script's copy in " + folder + " was changed since prepare (SHA-256 " + found
                            + ", expected " + script.sha256() + "): a changed script needs a new job");
        } catch (IOException e) {
            return Optional.of("cannot read the script's copy in " + folder + ": " + e.getMessage());
        }
    }

    /** A larger node may join at any time, so the job is held and not failed. */
    private String othersHave(GpuDemand wanted) {
        if (root == null) {
            return "; lower ray.num_gpus, or set gpus.logical to pretend";
        }
        try {
            return new KnownNodes(root)
                    .shortage(wanted)
                    .map(known -> "; no node has as many (" + known + "): the job waits for one that has")
                    .orElse("; it is left to nodes that have as many");
        } catch (IOException e) {
            return "; what the others have cannot be read (" + e.getMessage() + ")";
        }
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
