/** Measures whether a mount does what coordination asks of it, and recommends the times that leases need there. */
@NullMarked
package dev.caravan.doctor;

import org.jspecify.annotations.NullMarked;
