/** Compressed sources as the text in them: which kinds there are, and reading them as streams. */
@NullMarked
package dev.caravan.packing;

import org.jspecify.annotations.NullMarked;
