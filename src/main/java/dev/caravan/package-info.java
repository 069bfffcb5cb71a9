@NullMarked
package dev.caravan;

import org.jspecify.annotations.NullMarked;
