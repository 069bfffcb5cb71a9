package dev.caravan.exec;

import dev.caravan.shard.GpuDemand;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** The node's GPUs and how much of each is free; a grant that is given back is granted again. Thread-safe. */
public final class Gpus {
    /** A whole device, in the steps in which Ray counts shares. */
    private static final int WHOLE = 10_000;

    private final List<String> names;
    private final int[] free;

    public Gpus(List<String> names) {
        this.names = List.copyOf(names);
        this.free = new int[names.size()];
        Arrays.fill(free, WHOLE);
    }

    /**
     * @param logical how many to pretend on a machine without; 0 looks for real ones
     * @param devices which of the real ones; empty for those that CUDA_VISIBLE_DEVICES names, and all without that
     */
    public static Gpus find(int logical, String devices, Map<String, String> environment) {
        if (logical > 0) {
            return new Gpus(
                    IntStream.range(0, logical).mapToObj(Integer::toString).toList());
        }
        List<NvidiaSmi.Device> installed = NvidiaSmi.devices();
        String visible = devices.isEmpty() ? environment.get("CUDA_VISIBLE_DEVICES") : devices;
        return new Gpus(
                visible == null
                        ? installed.stream()
                                .flatMap(device -> device.names().stream())
                                .toList()
                        : visible(visible, installed));
    }

    /** As the CUDA driver reads the list: it ends at the first entry that names no device, and none counts twice. */
    static List<String> visible(String list, List<NvidiaSmi.Device> installed) {
        LinkedHashSet<String> found = new LinkedHashSet<>();
        for (String entry : list.split(",")) {
            String name = entry.strip();
            boolean known = name.matches("(GPU|MIG)-.+") && installed.isEmpty() // no nvidia-smi that would know
                    || installed.stream().anyMatch(device -> device.isCalled(name));
            if (!known || !found.add(name)) {
                break;
            }
        }
        return new ArrayList<>(found);
    }

    public List<String> names() {
        return names;
    }

    /** Devices of one shard. */
    static final class Grant {
        private final List<Integer> indexes;
        private final List<String> devices;
        private final int share;

        private Grant(List<Integer> indexes, List<String> devices, int share) {
            this.indexes = indexes;
            this.devices = devices;
            this.share = share;
        }

        /** As CUDA_VISIBLE_DEVICES takes it; empty hides all devices. */
        String visibleDevices() {
            return String.join(",", devices);
        }

        /** A shared device counts as one: Ray takes whole numbers only. */
        int count() {
            return devices.size();
        }
    }

    /** @return empty if not enough is free at this moment */
    synchronized Optional<Grant> take(GpuDemand demand) {
        if (!demand.isMetBy(names.size())) {
            return Optional.empty();
        }
        boolean isShare = demand.devices() > 0 && demand.devices() < 1;
        int share = isShare ? Math.max(1, (int) Math.round(demand.devices() * WHOLE)) : WHOLE;
        int count = demand.isAll() ? names.size() : (int) Math.ceil(demand.devices());
        List<Integer> taken = IntStream.range(0, free.length)
                .filter(index -> free[index] >= share)
                .boxed()
                .sorted((a, b) -> free[a] - free[b]) // a device that is shared already, before a whole one
                .limit(count)
                .toList();
        if (taken.size() < count) {
            return Optional.empty();
        }
        taken.forEach(index -> free[index] -= share);
        return Optional.of(new Grant(taken, taken.stream().map(names::get).toList(), share));
    }

    /** Call it once for each grant. */
    synchronized void giveBack(Grant grant) {
        grant.indexes.forEach(index -> free[index] += grant.share);
    }
}
