package dev.caravan.shard;

/** What went into and came out of one operator of the recipe. */
public record OperatorRows(String name, long rowsIn, long rowsOut) {
    public OperatorRows plus(OperatorRows other) {
        return new OperatorRows(name, rowsIn + other.rowsIn, rowsOut + other.rowsOut);
    }
}
