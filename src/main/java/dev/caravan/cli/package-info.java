/** The command line. A command that needs no Camel does not start it. */
@NullMarked
package dev.caravan.cli;

import org.jspecify.annotations.NullMarked;
