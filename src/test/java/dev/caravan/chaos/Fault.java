package dev.caravan.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** What the schedule does to nodes and storage. The weight says how often, against the others. */
enum Fault {
    KILL(14),
    FREEZE(2),
    LEAVE(2),
    HANG_SERVER(1),
    HANG_MOUNT(1),
    DEAD_MOUNT(2),
    DISK_FULL(1);

    private final int weight;

    Fault(int weight) {
        this.weight = weight;
    }

    static Fault any(Random random) {
        List<Fault> urn = new ArrayList<>();
        for (Fault fault : values()) {
            for (int i = 0; i < fault.weight; i++) {
                urn.add(fault);
            }
        }
        return urn.get(random.nextInt(urn.size()));
    }
}
