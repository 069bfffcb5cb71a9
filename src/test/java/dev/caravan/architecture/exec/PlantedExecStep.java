package dev.caravan.architecture.exec;

import dev.caravan.architecture.intake.PlantedIntakeStep;

/** A violation: a stage that knows another. */
public interface PlantedExecStep extends PlantedIntakeStep {}
