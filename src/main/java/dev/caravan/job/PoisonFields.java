package dev.caravan.job;

import dev.caravan.shard.Engine;
import dev.caravan.shard.Poison;
import java.util.List;
import java.util.Optional;

/** What a policy says of records that the engine fails on. */
final class PoisonFields {
    static final List<String> ALL = List.of("isolate_poison", "max_failed_records", "max_failed_percent");

    private PoisonFields() {}

    /** @param engine whose failed items are results too, where it runs a script */
    static Poison read(Fields policy, Engine engine) {
        if (engine == Engine.MINI_BATCH) {
            ALL.stream()
                    .filter(policy::has)
                    .forEach(field -> policy.refuse(
                            field,
                            "expected nothing with engine " + engine + ", which sets failed mini-batches aside; their"
                                    + " limits are those of the section " + MiniBatchFields.SECTION));
            return new Poison(true, Long.MAX_VALUE, 100);
        }
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
