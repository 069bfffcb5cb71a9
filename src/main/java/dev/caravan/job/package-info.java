/** The job descriptor that users write: its schema, its reader, and what it asks for. */
@NullMarked
package dev.caravan.job;

import org.jspecify.annotations.NullMarked;
