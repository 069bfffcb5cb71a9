package dev.caravan.doctor;

import dev.caravan.store.Probe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Judges a race for names: each has one winner, and holds what its winner wrote. */
final class Races {
    private Races() {}

    /**
     * @param won numbers of the names that each contender believes to have won
     * @param broken the grade if a name has no winner or several
     */
    static Measured judge(
            Property property, Probe probe, Path folder, int names, Map<String, List<Integer>> won, Grade broken)
            throws IOException {
        Map<Integer, String> winner = new HashMap<>();
        int twice = 0;
        for (Map.Entry<String, List<Integer>> contender : won.entrySet()) {
            for (int number : contender.getValue()) {
                twice += winner.put(number, contender.getKey()) == null ? 0 : 1;
            }
        }
        int without = names - winner.size();
        int foreign = 0;
        for (Map.Entry<Integer, String> name : winner.entrySet()) {
            Optional<byte[]> content = probe.read(folder.resolve(Helper.raced(name.getKey())));
            boolean right =
                    content.isPresent() && new String(content.get(), StandardCharsets.UTF_8).equals(name.getValue());
            foreign += right ? 0 : 1;
        }
        String measured = names + " names, " + won.size() + " contenders: ";
        if (twice + without + foreign > 0) {
            return new Measured(
                    property,
                    measured + twice + " won by several, " + without + " by none, " + foreign
                            + " not with the winner's content",
                    broken);
        }
        boolean contested =
                won.values().stream().filter(list -> !list.isEmpty()).count() > 1;
        measured += "one winner each";
        return contested ? Measured.ok(property, measured) : Measured.warn(property, measured + ", but all by one");
    }
}
