package dev.caravan.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a shard costs besides its work: jobs of one-record shards are drained by an engine that starts no process, so
 * that claim, cut, attempt directory, empty result, done record and the end of the claim are left. The cost must not
 * grow with the number of shards.
 */
final class ClaimsBenchmark implements Benchmark {
    /** What a node drains before it is measured, so that its code is compiled. */
    private static final int WARM_UP = 500;

    @Override
    public Table run(Bench bench) throws IOException {
        String asked = System.getProperty("bench.claims", "60");
        List<Integer> sizes = Bench.numbers("bench.claims", asked);
        Path folder = Files.createDirectory(bench.folder().resolve("claims"));
        List<Place> places = Place.named(Bench.list("bench.places", "disk"));
        List<Integer> counted = Bench.numbers("bench.counted", asked);
        Map<Integer, Double> operations = operations(places.get(0), counted, folder);
        List<List<String>> rows = new ArrayList<>();
        for (Place place : places) {
            for (int nodes : Bench.numbers("bench.nodes", "1")) {
                Cost[] cost = drained(place, nodes, sizes, folder);
                for (int i = 0; i < sizes.size(); i++) {
                    rows.add(List.of(
                            place.label,
                            Integer.toString(nodes),
                            Integer.toString(sizes.get(i)),
                            text(operations.get(sizes.get(i))),
                            milliseconds(cost[i]),
                            String.format(
                                    Locale.ROOT,
                                    "%.2f (%.2f)",
                                    cost[i].wall() / cost[0].wall(),
                                    cost[i].cpu() / cost[0].cpu())));
                }
            }
        }
        return new Table(
                List.of(
                        "directory on",
                        "nodes",
                        "shards",
                        "operations a claim",
                        "ms a claim",
                        "times a claim of " + sizes.get(0) + " shards"),
                rows);
    }

    private static String milliseconds(Cost cost) {
        return String.format(Locale.ROOT, "%.2f (%.2f)", 1e3 * cost.wall(), 1e3 * cost.cpu());
    }

    private static String text(@Nullable Double number) {
        return number == null ? "" : String.format(Locale.ROOT, "%.1f", number);
    }

    private static Cost[] drained(Place place, int count, List<Integer> sizes, Path folder) throws IOException {
        Path own = Files.createTempDirectory(folder, "nodes-");
        try (Place.Open open = place.open(folder, count);
                Nodes nodes = Nodes.start(open, count, own)) {
            nodes.drain(Math.min(WARM_UP * count, sizes.get(0)));
            Cost[] cost = new Cost[sizes.size()];
            for (int i = 0; i < cost.length; i++) {
                cost[i] = nodes.drain(sizes.get(i));
                System.out.printf(
                        "%s, %d nodes, %d shards: %s%n", place.label, count, sizes.get(i), milliseconds(cost[i]));
            }
            return cost;
        }
    }

    /** By one node: how often it asks something of the job directory besides reading and writing, for each claim. */
    private static Map<Integer, Double> operations(Place place, List<Integer> sizes, Path folder) throws IOException {
        Map<Integer, Double> operations = new TreeMap<>();
        for (int shards : sizes) {
            try (Place.Open open = place.open(folder, 1)) {
                operations.put(shards, (double) SystemCalls.ofDraining(open, shards, folder) / shards);
            }
        }
        return operations;
    }
}
