package dev.caravan.job;

import dev.caravan.shard.BadRecords;
import dev.caravan.shard.OnBadRecord;
import java.util.List;
import java.util.Optional;

/** What a policy says of input lines that are not records. */
final class BadRecordFields {
    private static final String ON = "on_bad_record";
    private static final String MOST = "max_bad_records";
    private static final String PERCENT = "max_bad_percent";

    private BadRecordFields() {}

    static BadRecords read(Fields policy) {
        Optional<OnBadRecord> on = policy.parsed(ON, "expected fail or quarantine", OnBadRecord::parse);
        String count = "expected a whole number of at least 0";
        Optional<Long> most = policy.parsed(MOST, count, text -> (long) Numbers.whole(text, 0, count));
        Optional<Double> percent = policy.parsed(PERCENT, Numbers.PERCENT, Numbers::percent);
        boolean fails = on.isEmpty() ? !policy.has(ON) : on.get() == OnBadRecord.FAIL;
        for (String limit : List.of(MOST, PERCENT)) {
            if (fails && policy.has(limit)) {
                policy.refuse(
                        limit,
                        "expected only with on_bad_record: quarantine, found on_bad_record: fail, which allows no bad"
                                + " record at all");
            }
        }
        return new BadRecords(on.orElse(BadRecords.FAIL.on()), most.orElse(null), percent.orElse(null));
    }
}
