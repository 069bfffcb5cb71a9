package dev.caravan.node;

import dev.caravan.store.Layout;
import java.util.List;

/** The job of a command that names its job directory. */
public record OneJob(Layout.Job job, Layout.Generation generation) implements JobCatalog {
    @Override
    public List<Entry> jobs() {
        return List.of(new Entry(job, generation));
    }

    @Override
    public boolean isInboxEmpty() {
        return true;
    }
}
