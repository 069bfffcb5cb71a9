package dev.caravan.finalize;

import dev.caravan.jsonl.Tally;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.OutputForm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** What a merge makes, in one of its forms. */
interface MergedOutput {
    static MergedOutput of(OutputForm form, MergeRequest request, List<DoneRecord> results) {
        return form == OutputForm.PARTS ? new MergedParts(request, results) : new MergedFile(request, results);
    }

    /** Whether it is there, with all results and these sums; reads it whole if it may be. */
    boolean isWhole(Tally sums) throws IOException;

    /**
     * Makes it, or takes what is there for it if that is the same.
     *
     * @throws MergeException if something else has its name, or a result is not what its record says
     */
    Tally make() throws IOException;

    static MergeException foreign(Path output, String difference, String remedy) {
        return new MergeException("the output " + output + " exists and is not this job's result (expected "
                + difference + "); move it away" + remedy);
    }
}
