/** JSON Lines as bytes: finding records, judging them, changing one member without touching the rest. */
@NullMarked
package dev.caravan.jsonl;

import org.jspecify.annotations.NullMarked;
