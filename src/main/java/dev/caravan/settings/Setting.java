package dev.caravan.settings;

import java.util.Locale;

/** @param origin where the value comes from, as a message names it */
record Setting(String key, Kind kind, String value, String origin) {
    static final String DEFAULT = "default";

    Setting with(String newValue, String newOrigin) {
        return new Setting(key, kind, newValue, newOrigin);
    }

    boolean isDefault() {
        return origin.equals(DEFAULT);
    }

    /** How the environment spells the key. */
    String variable() {
        return EnvironmentLayer.PREFIX + key.toUpperCase(Locale.ROOT).replace('.', '_');
    }

    /** How a -D option spells the key. */
    String property() {
        return Settings.PREFIX + key;
    }
}
