package dev.caravan.job;

import dev.caravan.shard.Poison;

/** What a policy says of records that the engine fails on. */
final class PoisonFields {
    private PoisonFields() {}

    static Poison read(Fields policy) {
        String count = "expected a whole number of at least 0";
        return new Poison(
                policy.parsed("isolate_poison", "expected true or false", PoisonFields::yesOrNo)
                        .orElse(Poison.DEFAULT.isolate()),
                policy.parsed("max_failed_records", count, text -> (long) Numbers.whole(text, 0, count))
                        .orElse(Poison.DEFAULT.most()),
                policy.parsed("max_failed_percent", Numbers.PERCENT, Numbers::percent)
                        .orElse(Poison.DEFAULT.mostPercent()));
    }

    private static boolean yesOrNo(String text) {
        if (!text.equals("true") && !text.equals("false")) {
            throw new IllegalArgumentException("expected true or false, found '" + text + "'");
        }
        return text.equals("true");
    }
}
