package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.List;
import java.util.Optional;

/**
 * What became of the records of a shard, or of a whole job. It adds up if rows in + expanded = rows out + filtered +
 * failed: nothing vanishes and nothing comes from nowhere.
 *
 * @param filtered records that were dropped, as far as is known: where only the two ends are seen, their difference
 * @param expanded records that were made in addition to those that went in
 * @param failed records that were set aside because the engine fails on them
 */
public record Ledger(long rowsIn, long rowsOut, long filtered, long expanded, long failed) {
    public static final Ledger EMPTY = new Ledger(0, 0, 0, 0, 0);

    /** Seen from outside: more rows out than in were made, fewer were dropped. */
    public static Ledger of(long rowsIn, long rowsOut, long failed) {
        long difference = rowsIn - failed - rowsOut;
        return new Ledger(rowsIn, rowsOut, Math.max(0, difference), Math.max(0, -difference), failed);
    }

    /** As the operators tell, one after the other; it adds up only if each got what the one before it left. */
    public static Ledger of(long rowsIn, long rowsOut, long failed, List<OperatorRows> operators) {
        if (operators.isEmpty()) {
            return of(rowsIn, rowsOut, failed);
        }
        long filtered = 0;
        long expanded = 0;
        for (OperatorRows operator : operators) {
            long difference = operator.rowsIn() - operator.rowsOut();
            filtered += Math.max(0, difference);
            expanded += Math.max(0, -difference);
        }
        return new Ledger(rowsIn, rowsOut, filtered, expanded, failed);
    }

    public Ledger plus(Ledger other) {
        return new Ledger(
                rowsIn + other.rowsIn,
                rowsOut + other.rowsOut,
                filtered + other.filtered,
                expanded + other.expanded,
                failed + other.failed);
    }

    /** What is wrong, if it does not add up. */
    @JsonIgnore
    public Optional<String> imbalance() {
        boolean negative = Math.min(Math.min(rowsIn, rowsOut), Math.min(Math.min(filtered, expanded), failed)) < 0;
        return !negative && rowsIn + expanded == rowsOut + filtered + failed
                ? Optional.empty()
                : Optional.of("expected rows in + expanded = rows out + filtered + failed, found " + rowsIn + " + "
                        + expanded + " and " + rowsOut + " + " + filtered + " + " + failed);
    }

    /** One line for people. */
    @Override
    public String toString() {
        return rowsIn + " rows in, " + rowsOut + " out, " + filtered + " filtered, " + expanded + " expanded, " + failed
                + " failed";
    }
}
