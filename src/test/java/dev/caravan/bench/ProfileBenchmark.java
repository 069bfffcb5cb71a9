package dev.caravan.bench;

import dev.caravan.shard.ShardForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/** What the limit of prepare is: in which methods its threads are when Java's flight recorder looks. */
final class ProfileBenchmark implements Benchmark {
    private static final int SHOWN = 12;
    private static final String OWN = "dev.caravan.";

    /** @param at the innermost method @param in the innermost one of Caravan's */
    private record Spot(String kind, String at, String in) {}

    @Override
    public Table run(Bench bench) throws IOException {
        Path folder = Files.createDirectory(bench.folder().resolve("profile"));
        Path input = WebRecords.write(folder.resolve("input.jsonl"), bench.megabytes());
        Path recording = folder.resolve("prepare.jfr");
        List<String> command = new ArrayList<>(Bench.caravan(
                "prepare",
                PrepareBenchmark.descriptor(folder, input, ShardForm.RANGES),
                "--job-dir",
                folder.resolve("job")));
        command.add(1, "-XX:StartFlightRecording:settings=profile,filename=" + recording);
        bench.run(command);
        Map<Spot, Integer> samples = samples(recording);
        int all = samples.values().stream().mapToInt(Integer::intValue).sum();
        List<List<String>> rows = samples.entrySet().stream()
                .sorted(Map.Entry.<Spot, Integer>comparingByValue(Comparator.reverseOrder()))
                .limit(SHOWN)
                .map(entry -> List.of(
                        String.format(
                                Locale.ROOT,
                                "%d of %d (%.0f %%)",
                                entry.getValue(),
                                all,
                                100.0 * entry.getValue() / all),
                        entry.getKey().kind(),
                        entry.getKey().at(),
                        entry.getKey().in()))
                .toList();
        return new Table(
                List.of("samples of prepare, " + bench.megabytes() + " MB", "kind", "method", "called from"), rows);
    }

    private static Map<Spot, Integer> samples(Path recording) throws IOException {
        Map<Spot, Integer> samples = new HashMap<>();
        for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
            Optional<String> kind = kind(event.getEventType().getName());
            if (kind.isPresent() && event.getStackTrace() != null) {
                List<RecordedFrame> frames = event.getStackTrace().getFrames();
                String in = frames.stream()
                        .map(ProfileBenchmark::name)
                        .filter(name -> name.startsWith(OWN))
                        .findFirst()
                        .map(name -> name.substring(OWN.length()))
                        .orElse("outside of Caravan");
                samples.merge(new Spot(kind.get(), name(frames.get(0)), in), 1, Integer::sum);
            }
        }
        return samples;
    }

    private static Optional<String> kind(String event) {
        return switch (event) {
            case "jdk.ExecutionSample" -> Optional.of("Java");
            case "jdk.NativeMethodSample" -> Optional.of("system");
            default -> Optional.empty();
        };
    }

    private static String name(RecordedFrame frame) {
        return frame.getMethod().getType().getName() + "." + frame.getMethod().getName();
    }
}
