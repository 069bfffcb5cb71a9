package dev.caravan.sim;

/** Unwinds a strand whose node is dead, or whose simulation is over. An error, so that no code takes it for a failure. */
final class Killed extends Error {
    Killed() {
        super("killed", null, false, false);
    }
}
