package dev.caravan.node;

import dev.caravan.store.Layout;
import java.io.IOException;
import java.util.List;

/** Which jobs a node works for. */
public interface JobCatalog {
    /** A job and the generation in which its roles are claimed. */
    record Entry(Layout.Job job, Layout.Generation generation) {}

    List<Entry> jobs() throws IOException;

    /** Whether nothing is on its way that would become a job. */
    boolean isInboxEmpty() throws IOException;
}
