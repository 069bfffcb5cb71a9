package dev.caravan.intake;

import dev.caravan.CaravanException;

/** The input cannot be used as it is: its records must be read one by one and written anew. Not an error. */
final class MustCopy extends CaravanException {
    /** @param why what was found, and where */
    MustCopy(String why) {
        super(why);
    }
}
