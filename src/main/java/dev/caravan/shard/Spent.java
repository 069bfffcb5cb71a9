package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Optional;
import java.util.stream.Stream;

/** Failures charged so far, by class. */
public record Spent(int data, int infra, int stalled, int timeout) {
    public static final Spent NOTHING = new Spent(0, 0, 0, 0);

    public Spent plus(FailureClass failure) {
        return switch (failure) {
            case DATA -> new Spent(data + 1, infra, stalled, timeout);
            case INFRA -> new Spent(data, infra + 1, stalled, timeout);
            case STALLED -> new Spent(data, infra, stalled + 1, timeout);
            case TIMEOUT -> new Spent(data, infra, stalled, timeout + 1);
        };
    }

    public int of(FailureClass failure) {
        return switch (failure) {
            case DATA -> data;
            case INFRA -> infra;
            case STALLED -> stalled;
            case TIMEOUT -> timeout;
        };
    }

    @JsonIgnore
    public int total() {
        return data + infra + stalled + timeout;
    }

    /** Whether the budget of some class is used up: one failure more than its retries. */
    public boolean exceeds(Policy policy) {
        return usedUp(policy).isPresent();
    }

    /** The class whose budget is used up. */
    public Optional<FailureClass> usedUp(Policy policy) {
        return Stream.of(FailureClass.values())
                .filter(failure -> of(failure) > policy.retries(failure))
                .findFirst();
    }
}
