/**
 * A seeded simulation of the coordination protocol: the real claims, leases and hearts of several nodes over a model of
 * the shared directory that is late, forgetful and faulty, in virtual time, with the protocol's promises checked at each
 * step.
 */
@NullMarked
package dev.caravan.sim;

import org.jspecify.annotations.NullMarked;
