/** The read model: all that the command line shows of a job, read from its directory alone. */
@NullMarked
package dev.caravan.status;

import org.jspecify.annotations.NullMarked;
