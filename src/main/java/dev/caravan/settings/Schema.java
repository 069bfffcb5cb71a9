package dev.caravan.settings;

import dev.caravan.settings.YamlNode.Entry;
import dev.caravan.settings.YamlNode.Mapping;
import dev.caravan.settings.YamlNode.Scalar;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The packaged defaults: they say which keys there are and what each holds. */
final class Schema {
    private static final String RESOURCE = "/configs/caravan.yaml";

    private Schema() {}

    /** Key to default, in the order of the file. */
    static Map<String, Setting> packaged() {
        try (InputStream in = Schema.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException("the program is incomplete: class path resource " + RESOURCE
                        + " is missing; unpack the distribution again");
            }
            return of(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Map<String, Setting> of(byte[] yaml) {
        Problems problems = new Problems();
        Map<String, Setting> defaults = new LinkedHashMap<>();
        collect("", YamlReader.read(yaml, RESOURCE, problems), defaults);
        if (!problems.isEmpty()) {
            throw new IllegalStateException(problems.report("the packaged defaults are not valid:"));
        }
        return defaults;
    }

    private static void collect(String section, Mapping mapping, Map<String, Setting> into) {
        for (Entry entry : mapping.entries()) {
            String key = section + entry.key();
            if (entry.value() instanceof Mapping nested) {
                collect(key + ".", nested, into);
            } else if (entry.value() instanceof Scalar value) {
                into.put(key, new Setting(key, Kind.ofDefault(value), value.text(), Setting.DEFAULT));
            } else {
                throw new IllegalStateException("the packaged default of " + key + " is "
                        + entry.value().found());
            }
        }
    }
}
