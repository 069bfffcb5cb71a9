package dev.caravan.doctor.repair;

import dev.caravan.doctor.repair.Finding.Need;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A finding with what it rests on, and its repair.
 *
 * @param evidence differs once somebody has touched what was found
 */
record Case(Finding finding, String evidence, @Nullable Repair repair) {

    /** @see Bench */
    @FunctionalInterface
    interface Repair {
        /** @return what was done */
        String on(Bench bench) throws IOException;
    }

    static Case harmless(String path, String found, String meaning) {
        return new Case(new Finding(Need.NOTHING, path, found, meaning, null, null), "", null);
    }

    static Case person(String path, String found, String meaning) {
        return new Case(new Finding(Need.PERSON, path, found, meaning, null, null), "", null);
    }

    static Case fixable(String path, String found, String meaning, String fix, String evidence, Repair repair) {
        return new Case(new Finding(Need.FIX, path, found, meaning, fix, null), evidence, repair);
    }

    boolean isSameAs(Case other) {
        return finding.equals(other.finding) && evidence.equals(other.evidence);
    }
}
