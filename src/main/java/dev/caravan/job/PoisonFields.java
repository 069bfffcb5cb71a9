package dev.caravan.job;

import dev.caravan.shard.Engine;
import dev.caravan.shard.Poison;
import java.util.Optional;

/** What a policy says of records that the engine fails on. */
final class PoisonFields {
    private PoisonFields() {}

    /** @param engine whose failed items are results too, where it runs a script */
    static Poison read(Fields policy, Engine engine) {
        String count = "expected a whole number of at least 0";
        Optional<Boolean> isolate = policy.parsed("isolate_poison", Numbers.YES_OR_NO, Numbers::yesOrNo);
        boolean always = engine == Engine.PLAN_EXECUTE;
        if (always && isolate.isPresent() && !isolate.get()) {
            policy.refuse(
                    "isolate_poison",
                    "expected true or nothing with engine " + engine + ", which sets items aside that fail; found"
                            + " 'false'; max_failed_records: 0 lets the first one end the job");
        }
        return new Poison(
                always || isolate.orElse(Poison.DEFAULT.isolate()),
                policy.parsed("max_failed_records", count, text -> (long) Numbers.whole(text, 0, count))
                        .orElse(always ? Integer.MAX_VALUE : Poison.DEFAULT.most()),
                policy.parsed("max_failed_percent", Numbers.PERCENT, Numbers::percent)
                        .orElse(Poison.DEFAULT.mostPercent()));
    }
}
