package dev.caravan.job;

import dev.caravan.settings.Nearest;
import dev.caravan.settings.Problems;
import dev.caravan.settings.YamlNode.Entry;
import dev.caravan.settings.YamlNode.Items;
import dev.caravan.settings.YamlNode.Mapping;
import dev.caravan.settings.YamlNode.Nothing;
import dev.caravan.settings.YamlNode.Scalar;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The fields of one section by name and type. A field of another type is reported and reads as absent; so does one
 * without a value.
 */
final class Fields {
    private final String source;
    private final String section;
    private final int line;
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final Problems problems;

    Fields(String source, Mapping root, Problems problems) {
        this(source, "", root, problems);
    }

    private Fields(String source, String section, Mapping mapping, Problems problems) {
        this.source = source;
        this.section = section;
        this.line = mapping.line();
        this.problems = problems;
        mapping.entries().forEach(entry -> entries.put(entry.key(), entry));
    }

    /** @param known all fields of the descriptor, those of sections with the section's name before them */
    Fields refuseUnknown(List<String> known) {
        for (Entry entry : entries.values()) {
            String path = section + entry.key();
            if (!known.contains(path)) {
                problems.add(at(entry.line()), path + ": unknown field" + Nearest.question(path, known));
            }
        }
        return this;
    }

    /** An absent section has no fields. */
    Fields section(String name) {
        Entry entry = entries.get(name);
        if (entry != null && entry.value() instanceof Mapping mapping) {
            return new Fields(source, section + name + ".", mapping, problems);
        }
        if (has(name)) {
            refuse(name, "expected a section with fields of its own, found " + found(name));
        }
        return new Fields(source, section + name + ".", new Mapping(line, List.of()), problems);
    }

    boolean isSection(String name) {
        Entry entry = entries.get(name);
        return entry != null && entry.value() instanceof Mapping;
    }

    boolean has(String name) {
        Entry entry = entries.get(name);
        return entry != null && !(entry.value() instanceof Nothing);
    }

    Optional<String> text(String name) {
        return scalar(name, "expected text").map(Scalar::text);
    }

    /** @param parse throws IllegalArgumentException with what was expected, what was found, and advice */
    <T> Optional<T> parsed(String name, String expected, Function<String, T> parse) {
        Optional<Scalar> scalar = scalar(name, expected);
        try {
            return scalar.map(Scalar::text).map(parse);
        } catch (IllegalArgumentException e) {
            refuse(name, String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }

    /** Of a list of texts; empty if there is none. */
    List<String> texts(String name) {
        return texts(name, "[one, two, ...]");
    }

    /** Of a list of at least a program; empty if there is none. */
    List<String> program(String name) {
        Entry entry = entries.get(name);
        if (entry != null && entry.value() instanceof Items list && list.items().isEmpty()) {
            refuse(name, "expected at least a program, found an empty list");
        }
        return texts(name, "[program, argument, ...]");
    }

    private List<String> texts(String name, String example) {
        Entry entry = entries.get(name);
        if (entry == null || !(entry.value() instanceof Items list)) {
            if (has(name)) {
                refuse(name, "expected a list of texts, found " + found(name) + "; write " + example);
            }
            return List.of();
        }
        List<String> texts = new ArrayList<>();
        list.items().forEach(item -> {
            if (item instanceof Scalar scalar) {
                texts.add(scalar.text());
            } else {
                problems.add(
                        at(item.line()),
                        section + name + "[" + texts.size() + "]: expected text, found " + item.found());
                texts.add("");
            }
        });
        return texts;
    }

    private Optional<Scalar> scalar(String name, String expected) {
        Entry entry = entries.get(name);
        if (entry != null && entry.value() instanceof Scalar scalar) {
            return Optional.of(scalar);
        }
        if (has(name)) {
            refuse(name, expected + ", found " + found(name));
        }
        return Optional.empty();
    }

    /** Reported at the field's line, or at the section's if the field is absent. */
    void refuse(String name, String what) {
        Entry entry = entries.get(name);
        problems.add(at(entry == null ? line : entry.line()), section + name + ": " + what);
    }

    void refuseIfThere(String name, String what) {
        if (has(name)) {
            refuse(name, what);
        }
    }

    private String found(String name) {
        Entry entry = entries.get(name);
        return entry == null ? "nothing" : entry.value().found();
    }

    private String at(int where) {
        return Problems.at(source, where);
    }
}
