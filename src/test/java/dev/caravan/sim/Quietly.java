package dev.caravan.sim;

import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** What goes wrong in simulated nodes is no news. */
final class Quietly implements BeforeAllCallback, AfterAllCallback {
    @Override
    public void beforeAll(ExtensionContext context) {
        Configurator.setAllLevels("dev.caravan", Level.OFF);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        Configurator.reconfigure();
    }
}
