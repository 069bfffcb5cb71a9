/** The last stage: the results become one file in manifest order, and the chain from input to that file is proved. */
@NullMarked
package dev.caravan.finalize;

import org.jspecify.annotations.NullMarked;
