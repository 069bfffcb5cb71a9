/** The Python environment: found or made, asked what is in it, and asked whether a recipe can be run on shards. */
@NullMarked
package dev.caravan.python;

import org.jspecify.annotations.NullMarked;
