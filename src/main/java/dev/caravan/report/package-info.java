/** The report of a job that has ended: one HTML file that needs nothing else. */
@NullMarked
package dev.caravan.report;

import org.jspecify.annotations.NullMarked;
