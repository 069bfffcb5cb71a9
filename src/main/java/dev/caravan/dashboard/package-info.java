/** What a node shows and takes over HTTP: the dashboard, the API for machines, metrics. */
@NullMarked
package dev.caravan.dashboard;

import org.jspecify.annotations.NullMarked;
