package dev.caravan.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.deser.std.FromStringDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The one form of every JSON file that Caravan writes: snake_case names, indented, durations as ISO 8601. */
public final class Json {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .serializationInclusion(JsonInclude.Include.ALWAYS)
            .enable(SerializationFeature.INDENT_OUTPUT, SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .addModule(new SimpleModule()
                    .addSerializer(Duration.class, ToStringSerializer.instance)
                    .addDeserializer(Duration.class, new FromStringDeserializer<Duration>(Duration.class) {
                        @Override
                        protected Duration _deserialize(String text, DeserializationContext context) {
                            return Duration.parse(text);
                        }
                    }))
            .build();

    private static final ObjectReader WHOLE = MAPPER.reader(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES);

    private Json() {}

    public static byte[] bytes(Object value) {
        try {
            return (MAPPER.writeValueAsString(value) + "\n").getBytes(StandardCharsets.UTF_8);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("cannot be written as JSON: " + value, e);
        }
    }

    /** One line without a line feed, for results on stdout and protocols. */
    public static String line(Object value) {
        try {
            return MAPPER.writer().without(SerializationFeature.INDENT_OUTPUT).writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("cannot be written as JSON: " + value, e);
        }
    }

    public static <T> T parse(byte[] json, Class<T> type) throws IOException {
        return MAPPER.readValue(json, type);
    }

    /** Refuses what lacks a property, also one that may be null: nothing that Caravan writes does. */
    public static <T> T parseWhole(byte[] json, Class<T> type) throws IOException {
        return WHOLE.readValue(json, type);
    }

    public static JsonNode tree(byte[] json) throws IOException {
        return MAPPER.readTree(json);
    }
}
