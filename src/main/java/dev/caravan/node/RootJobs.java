package dev.caravan.node;

import dev.caravan.intake.Inbox;
import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** All jobs that the inbox of a shared root has accepted. */
final class RootJobs implements JobCatalog {
    private final Layout.Root root;
    private final Inbox inbox;

    RootJobs(Layout.Root root, Inbox inbox) {
        this.root = root;
        this.inbox = inbox;
    }

    @Override
    public List<Entry> jobs() throws IOException {
        List<Entry> entries = new ArrayList<>();
        for (String name : Disk.list(root.jobs())) {
            String jobName = Layout.Job.ofCoordination(name);
            if (jobName != null) {
                Layout.Job job = root.job(jobName);
                inbox.currentGeneration(job).ifPresent(generation -> entries.add(new Entry(job, generation)));
            }
        }
        return entries;
    }

    @Override
    public boolean isInboxEmpty() throws IOException {
        return Disk.list(root.inbox()).stream().noneMatch(Inbox::isDescriptor);
    }
}
