/** Finding the next shard to work on, and the Camel component that turns each claim into one exchange. */
@NullMarked
package dev.caravan.claim;

import org.jspecify.annotations.NullMarked;
