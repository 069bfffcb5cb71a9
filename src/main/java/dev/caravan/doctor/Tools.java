package dev.caravan.doctor;

import dev.caravan.store.Probe;
import java.time.Clock;
import java.util.function.LongSupplier;

/**
 * What a doctor measures with.
 *
 * @param helpers starts helper processes
 * @param clock for what people read, and to show how far it is off
 * @param nanoClock measures all times
 */
public record Tools(Probe probe, HelperLink.Starter helpers, Clock clock, LongSupplier nanoClock) {}
