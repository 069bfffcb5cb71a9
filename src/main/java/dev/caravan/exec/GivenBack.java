package dev.caravan.exec;

import dev.caravan.CaravanException;

/** A claim made ahead is not to have its slot: its shard is for others. */
final class GivenBack extends CaravanException {
    GivenBack(String why) {
        super(why);
    }
}
