/**
 * The real program from its jar, as several processes over one directory, with shell scripts as engine. Tests wait for
 * events in files and logs, never for a time to pass.
 */
@NullMarked
package dev.caravan.e2e;

import org.jspecify.annotations.NullMarked;
