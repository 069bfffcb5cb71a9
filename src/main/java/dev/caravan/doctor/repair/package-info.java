/** Finds what does not belong together in a job directory, explains it, and repairs what is provable. */
@NullMarked
package dev.caravan.doctor.repair;

import org.jspecify.annotations.NullMarked;
