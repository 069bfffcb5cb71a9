package dev.caravan.chaos;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** When each machine could work: its node ran and its mount was served. Known by looking often. */
final class Health {
    private final List<Machine> machines;
    private final Storage storage;
    private final Map<Machine, Long> wellSince = new HashMap<>();
    private final List<Spell> spells = new ArrayList<>();

    /** A time without a break in which a machine was well, by the monotonic clock. */
    private record Spell(long from, long to) {
        boolean contains(long time) {
            return from <= time && time <= to;
        }
    }

    Health(List<Machine> machines, Storage storage) {
        this.machines = machines;
        this.storage = storage;
    }

    void look() {
        long now = System.nanoTime();
        for (Machine machine : machines) {
            boolean well = machine.isWorking() && storage.isServing(machine.client());
            if (well) {
                wellSince.putIfAbsent(machine, now);
            } else if (wellSince.containsKey(machine)) {
                spells.add(new Spell(wellSince.remove(machine), now));
            }
        }
    }

    /** Since when some machine had been well at that time; empty if none was. */
    OptionalLong wellSince(long time) {
        List<Spell> all = new ArrayList<>(spells);
        wellSince.values().forEach(from -> all.add(new Spell(from, Long.MAX_VALUE)));
        return all.stream()
                .filter(spell -> spell.contains(time))
                .mapToLong(Spell::from)
                .min();
    }
}
