package dev.caravan.shard;

/**
 * How a job takes records that the engine fails on.
 *
 * @param isolate whether they are found and set aside, so that the others complete
 * @param most so many records of the job may be set aside; with one more the job fails
 * @param mostPercent the same of 100 records of the job
 */
public record Poison(boolean isolate, long most, double mostPercent) {
    public static final Poison DEFAULT = new Poison(false, 100, 100);

    /** How many records of a job with so many may be set aside. */
    public long allowed(long records) {
        return Math.min(most, (long) (records * mostPercent / 100));
    }
}
