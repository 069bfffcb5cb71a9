/** The settings of a node: packaged defaults, files, environment and options, checked as one. */
@NullMarked
package dev.caravan.settings;

import org.jspecify.annotations.NullMarked;
