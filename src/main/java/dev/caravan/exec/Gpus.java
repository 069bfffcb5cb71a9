package dev.caravan.exec;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The node's GPUs and who has them. A shard gets whole devices; the index of a freed one is given out again. */
public final class Gpus {
    private static final Logger LOG = LoggerFactory.getLogger(Gpus.class);

    private final List<String> names;
    private final TreeSet<Integer> free = new TreeSet<>();

    public Gpus(List<String> names) {
        this.names = List.copyOf(names);
        IntStream.range(0, names.size()).forEach(free::add);
    }

    /**
     * @param logical how many to pretend on a machine without; 0 looks for real ones
     * @param environment where CUDA_VISIBLE_DEVICES narrows them
     */
    public static Gpus find(int logical, Map<String, String> environment) {
        if (logical > 0) {
            return new Gpus(
                    IntStream.range(0, logical).mapToObj(Integer::toString).toList());
        }
        List<String> installed = installed();
        String visible = environment.get("CUDA_VISIBLE_DEVICES");
        return new Gpus(visible == null ? installed : visible(visible, installed));
    }

    /** As the CUDA driver reads the list: it ends at the first entry that names no device, and none counts twice. */
    static List<String> visible(String list, List<String> installed) {
        LinkedHashSet<String> names = new LinkedHashSet<>();
        for (String entry : list.split(",")) {
            String name = entry.strip();
            boolean known = name.matches("\\d+") ? installed.contains(name) : name.matches("(GPU|MIG)-.+");
            if (!known || !names.add(name)) {
                break;
            }
        }
        return new ArrayList<>(names);
    }

    private static List<String> installed() {
        try {
            Process process = new ProcessBuilder("nvidia-smi", "--query-gpu=index", "--format=csv,noheader")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try (InputStream out = process.getInputStream()) {
                List<String> names = new String(out.readAllBytes(), StandardCharsets.UTF_8)
                        .lines()
                        .map(String::strip)
                        .filter(line -> line.matches("\\d+"))
                        .toList();
                return process.waitFor() == 0 ? names : List.of();
            }
        } catch (IOException noDriver) {
            return List.of();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    public int count() {
        return names.size();
    }

    /** Devices of one attempt. Closing gives them back. */
    public final class Grant implements AutoCloseable {
        private final List<Integer> indexes;
        private boolean returned;

        private Grant(List<Integer> indexes) {
            this.indexes = indexes;
        }

        /** As CUDA_VISIBLE_DEVICES takes it; empty hides all devices. */
        String visibleDevices() {
            return String.join(",", indexes.stream().map(names::get).toList());
        }

        int count() {
            return indexes.size();
        }

        /** Idempotent: a device that somebody else has by now is not given out twice. */
        @Override
        public void close() {
            synchronized (Gpus.this) {
                if (returned) {
                    return;
                }
                returned = true;
                free.addAll(indexes);
                Gpus.this.notifyAll();
            }
        }
    }

    /**
     * Waits until enough devices are free. A fraction takes a whole device.
     *
     * @throws IllegalArgumentException if the node has fewer at all
     */
    public synchronized Grant take(double wanted) throws InterruptedException {
        int whole = (int) Math.ceil(wanted);
        if (whole > names.size()) {
            throw new IllegalArgumentException(
                    "the shard asks for " + whole + " GPUs, this node has " + names.size() + ": " + names);
        }
        if (free.size() < whole) {
            LOG.info("waiting for {} of {} GPUs", whole, names.size());
        }
        while (free.size() < whole) {
            wait();
        }
        List<Integer> taken = new ArrayList<>();
        for (int i = 0; i < whole; i++) {
            taken.add(free.pollFirst());
        }
        return new Grant(List.copyOf(taken));
    }
}
