package dev.caravan.architecture.cli;

import dev.caravan.architecture.status.PlantedRoute;

/** A violation: a command that should start at once and loads Camel on the way. */
public final class PlantedStatusCommand {
    public void call() {
        new PlantedRoute().configure();
    }
}
