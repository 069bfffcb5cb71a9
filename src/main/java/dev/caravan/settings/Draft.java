package dev.caravan.settings;

import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Settings while the layers are laid over each other: a later value replaces an earlier one. */
final class Draft {
    private final Map<String, Setting> settings;
    private final Map<String, Setting> camel = new TreeMap<>();
    private final Problems problems = new Problems();
    private final Set<String> wrong = new HashSet<>();

    Draft(Map<String, Setting> defaults) {
        this.settings = new LinkedHashMap<>(defaults);
    }

    void set(String key, String value, String origin) {
        Setting setting = get(key);
        try {
            setting.kind().check(value);
            settings.put(key, setting.with(value, origin));
        } catch (IllegalArgumentException e) {
            wrong.add(key);
            problems.add(origin, key + ": " + e.getMessage());
        }
    }

    void setCamel(String key, String value, String origin) {
        camel.put(key, new Setting(key, Kind.TEXT, value, origin));
    }

    Setting get(String key) {
        Setting setting = settings.get(key);
        if (setting == null) {
            throw new IllegalArgumentException("there is no setting " + key);
        }
        return setting;
    }

    /** Whether all of them hold a value that can be judged; one that could not be read is reported already. */
    boolean areReadable(String... keys) {
        return List.of(keys).stream().noneMatch(wrong::contains);
    }

    boolean knows(String key) {
        return settings.containsKey(key);
    }

    boolean hasSection(String name) {
        return settings.keySet().stream().anyMatch(key -> key.startsWith(name + "."));
    }

    String keysOf(String section) {
        return String.join(
                ", ",
                settings.keySet().stream()
                        .filter(key -> key.startsWith(section + "."))
                        .toList());
    }

    Set<String> keys() {
        return settings.keySet();
    }

    Collection<Setting> settings() {
        return settings.values();
    }

    Collection<Setting> camel() {
        return camel.values();
    }

    Problems problems() {
        return problems;
    }
}
