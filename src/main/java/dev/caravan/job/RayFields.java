package dev.caravan.job;

import dev.caravan.settings.ByteSizes;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution.Ray;
import dev.caravan.shard.GpuDemand;

/** The section {@code ray} of a descriptor. */
final class RayFields {
    private static final String CPUS = "expected a number above 0";
    private static final String GPUS = "expected a number of at least 0, or all";

    /** Ray refuses to start with less. */
    private static final long LEAST_OBJECT_STORE = 75L << 20;

    private RayFields() {}

    static Ray read(Fields ray, Engine engine) {
        if (engine.isScripted() && ray.text("address").filter(Ray.AUTO::equals).isPresent()) {
            ray.refuse(
                    "address",
                    "expected warm or local with engine " + engine + ", whose workers have a Ray of"
                            + " their own; found auto");
        }
        return new Ray(
                ray.parsed("address", "expected local, warm or auto", RayFields::address)
                        .orElse(Ray.DEFAULT.address()),
                ray.parsed("num_cpus", CPUS, text -> Numbers.decimal(text, false, CPUS))
                        .orElse(null),
                ray.parsed("num_gpus", GPUS, RayFields::gpus).orElse(null),
                ray.parsed("object_store_memory", ByteSizes.EXPECTED, RayFields::objectStore)
                        .orElse(null));
    }

    private static String address(String text) {
        if (!Ray.ADDRESSES.contains(text)) {
            throw new IllegalArgumentException("expected local (a Ray of its own for each attempt), warm (one that"
                    + " stays, with its operators) or auto (the one that runs on the node), found '" + text + "'");
        }
        return text;
    }

    private static GpuDemand gpus(String text) {
        return text.equals(GpuDemand.ALL.toString()) ? GpuDemand.ALL : new GpuDemand(Numbers.decimal(text, true, GPUS));
    }

    private static long objectStore(String text) {
        long bytes = ByteSizes.parse(text);
        if (bytes < LEAST_OBJECT_STORE) {
            throw new IllegalArgumentException(
                    "expected at least 75MiB, with less Ray does not start, found '" + text + "'");
        }
        return bytes;
    }
}
