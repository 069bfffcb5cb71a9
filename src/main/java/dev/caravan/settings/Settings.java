package dev.caravan.settings;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * The settings of this node, checked and complete. Weakest first: packaged defaults, files in the order given,
 * environment, -D options.
 */
public final class Settings {
    static final String PREFIX = "caravan.";

    private final Map<String, Setting> settings = new LinkedHashMap<>();
    private final Map<String, Setting> camel = new LinkedHashMap<>();

    private Settings(Draft draft) {
        draft.settings().forEach(setting -> settings.put(setting.key(), setting));
        draft.camel().forEach(setting -> camel.put(setting.key(), setting));
    }

    /**
     * @param configs files of settings, or folders that hold a caravan.yaml; each must exist
     * @throws SettingsException with every problem there is
     */
    public static Settings load(List<Path> configs, Map<String, String> environment, Properties systemProperties) {
        return load(Schema.packaged(), configs, environment, systemProperties);
    }

    static Settings load(
            Map<String, Setting> defaults, List<Path> configs, Map<String, String> environment, Properties properties) {
        Draft draft = new Draft(defaults);
        configs.forEach(config -> FileLayer.apply(config, draft));
        EnvironmentLayer.apply(environment, draft);
        PropertyLayer.apply(properties, draft);
        SafetyRules.apply(draft);
        if (!draft.problems().isEmpty()) {
            throw new SettingsException(draft.problems());
        }
        return new Settings(draft);
    }

    public Duration duration(String key) {
        return Durations.parse(value(key, Kind.DURATION));
    }

    /** In bytes. */
    public long size(String key) {
        return ByteSizes.parse(value(key, Kind.SIZE));
    }

    public int integer(String key) {
        return Integer.parseInt(value(key, Kind.INTEGER));
    }

    public boolean flag(String key) {
        return Boolean.parseBoolean(value(key, Kind.BOOLEAN));
    }

    public String text(String key) {
        return value(key, Kind.TEXT);
    }

    /** Where the value comes from: {@code default}, {@code file:line}, an environment variable or a -D option. */
    public String origin(String key) {
        return get(key).origin();
    }

    /** In the order of the packaged file. */
    public List<String> keys() {
        return List.copyOf(settings.keySet());
    }

    /** Every setting in text form as {@code caravan.<key>}, and the user's {@code camel.*} as they are. */
    public Properties properties() {
        Properties properties = new Properties();
        settings.values().forEach(setting -> properties.setProperty(setting.property(), setting.value()));
        camel.values().forEach(setting -> properties.setProperty(setting.key(), setting.value()));
        return properties;
    }

    private String value(String key, Kind kind) {
        Setting setting = get(key);
        if (setting.kind() != kind) {
            throw new IllegalArgumentException(key + " is a " + setting.kind() + ", not a " + kind);
        }
        return setting.value();
    }

    private Setting get(String key) {
        Setting setting = settings.get(key);
        if (setting == null) {
            throw new IllegalArgumentException("there is no setting " + key);
        }
        return setting;
    }
}
