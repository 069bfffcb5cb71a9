/** The only package that reads and writes the shared directory; {@link Layout} holds every name in it. */
@NullMarked
package dev.caravan.store;

import org.jspecify.annotations.NullMarked;
