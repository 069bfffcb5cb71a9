package dev.caravan.settings;

import java.util.List;

/** YAML, and so JSON, as it was written: keys and values with their lines, nothing converted. */
public sealed interface YamlNode {
    /** Counted from 1. */
    int line();

    /** What a message calls it after "found". */
    String found();

    record Scalar(int line, String text, boolean quoted) implements YamlNode {
        @Override
        public String found() {
            return "'" + text + "'";
        }
    }

    /** A key without a value, or with {@code null} or {@code ~}. */
    record Nothing(int line) implements YamlNode {
        @Override
        public String found() {
            return "nothing";
        }
    }

    record Items(int line, List<YamlNode> items) implements YamlNode {
        public Items {
            items = List.copyOf(items);
        }

        @Override
        public String found() {
            return "a list";
        }
    }

    /** Keys are distinct and in the order written. */
    record Mapping(int line, List<Entry> entries) implements YamlNode {
        public Mapping {
            entries = List.copyOf(entries);
        }

        @Override
        public String found() {
            return "a section with keys of its own";
        }
    }

    /** @param line of the key */
    record Entry(String key, int line, YamlNode value) {}
}
