package dev.caravan.architecture.intake;

import dev.caravan.claim.WorkSource;

/** A violation: a stage that knows another. */
public interface PlantedIntakeStep {
    WorkSource source();
}
