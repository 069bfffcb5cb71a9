/** Holding, beating, watching and fencing claims, the same for shards and for roles. */
@NullMarked
package dev.caravan.lease;

import org.jspecify.annotations.NullMarked;
