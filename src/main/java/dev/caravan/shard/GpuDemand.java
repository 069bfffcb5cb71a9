package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.math.BigDecimal;

/**
 * GPUs that a job asks for for each shard.
 *
 * @param devices below 1 a share of one device; infinite for all devices of the node
 */
public record GpuDemand(double devices) {
    private static final String ALL_TEXT = "all";

    public static final GpuDemand NONE = new GpuDemand(0);
    public static final GpuDemand ALL = new GpuDemand(Double.POSITIVE_INFINITY);

    public GpuDemand {
        if (Double.isNaN(devices) || devices < 0) {
            throw new IllegalArgumentException("GPUs must be a number of at least 0, not " + devices);
        }
    }

    /** @param json a number, or the text {@code all} */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public static GpuDemand of(Object json) {
        if (json instanceof Number number) {
            return new GpuDemand(number.doubleValue());
        }
        if (ALL_TEXT.equals(json)) {
            return ALL;
        }
        throw new IllegalArgumentException("GPUs must be a number or all, not " + json);
    }

    @JsonValue
    public Object json() {
        return isAll() ? ALL_TEXT : devices;
    }

    public boolean isAll() {
        return Double.isInfinite(devices);
    }

    /** Whether a node with so many devices has as many. All of none are too few. */
    public boolean isMetBy(int count) {
        return isAll() ? count > 0 : devices <= count;
    }

    /** As people write it: {@code 2}, {@code 0.5}, {@code all}. */
    @Override
    public String toString() {
        return isAll()
                ? ALL_TEXT
                : BigDecimal.valueOf(devices).stripTrailingZeros().toPlainString();
    }
}
