/**
 * The real program on three mounts of a real network file system, each node on a machine of its own as far as Linux can
 * pretend (mounts, host name, process ids, clock), while a seeded schedule kills, freezes, hangs and fills things. What
 * is on the disk is read from the server's side, which no fault hides.
 */
@NullMarked
package dev.caravan.chaos;

import org.jspecify.annotations.NullMarked;
