/** Values only: what a shard, a claim, a manifest and a record are, and the judgements about them. No I/O. */
@NullMarked
package dev.caravan.shard;

import org.jspecify.annotations.NullMarked;
