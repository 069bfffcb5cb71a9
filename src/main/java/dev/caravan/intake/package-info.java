/** Stage 1: finds the input, checks it, cuts it into shards and gives the job its directory. */
@NullMarked
package dev.caravan.intake;

import org.jspecify.annotations.NullMarked;
