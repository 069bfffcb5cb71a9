package dev.caravan.cli;

import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** A job by its directory, or by its name under a shared root. */
final class JobChoice {
    @ArgGroup(multiplicity = "1")
    Which which = new Which();

    static final class Which {
        @Option(names = "--job-dir", required = true, paramLabel = "DIR", description = "The job directory.")
        @Nullable
        Path jobDir;

        @ArgGroup(exclusive = false)
        @Nullable
        InRoot inRoot;
    }

    static final class InRoot {
        @Option(names = "--root", required = true, paramLabel = "DIR", description = "The shared root, with --name.")
        Path root;

        @Option(names = "--name", required = true, paramLabel = "JOB", description = "The job's name under the root.")
        String name;
    }

    JobFiles files() {
        Layout.Job job = which.jobDir != null
                ? new Layout.Job(which.jobDir)
                : new Layout.Root(which.inRoot.root).job(which.inRoot.name);
        return new JobFiles(job);
    }
}
