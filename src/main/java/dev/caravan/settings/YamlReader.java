package dev.caravan.settings;

import dev.caravan.settings.YamlNode.Entry;
import dev.caravan.settings.YamlNode.Items;
import dev.caravan.settings.YamlNode.Mapping;
import dev.caravan.settings.YamlNode.Nothing;
import dev.caravan.settings.YamlNode.Scalar;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.DumperOptions.ScalarStyle;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.composer.Composer;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.parser.ParserImpl;
import org.yaml.snakeyaml.reader.StreamReader;
import org.yaml.snakeyaml.resolver.Resolver;

/** Reads one YAML or JSON document of keys. Tags, anchors and keys given twice are refused: they hide what is meant. */
public final class YamlReader {
    private static final String BYTE_ORDER_MARK = "\uFEFF";
    private static final Pattern ODD_IN_YAML = Pattern.compile("[\\x7f-\\x9f\\u2028\\u2029\\ufffe\\uffff]");

    private final String source;
    private final Problems problems;

    private YamlReader(String source, Problems problems) {
        this.source = source;
        this.problems = problems;
    }

    /** The document's keys as far as they can be read; what cannot is added to the problems. */
    public static Mapping read(byte[] content, String source, Problems problems) {
        return new YamlReader(source, problems).document(content);
    }

    private Mapping document(byte[] content) {
        Mapping none = new Mapping(1, List.of());
        YamlNode root = decode(content)
                .flatMap(this::compose)
                .flatMap(node -> value("", node))
                .orElse(none);
        if (root instanceof Mapping mapping) {
            return mapping;
        }
        if (!(root instanceof Nothing)) {
            problem(root.line(), "expected keys and values (key: value), found " + root.found());
        }
        return none;
    }

    private Optional<String> decode(byte[] content) {
        CharsetDecoder utf8 = StandardCharsets.UTF_8.newDecoder();
        ByteBuffer in = ByteBuffer.wrap(content);
        CharBuffer out = CharBuffer.allocate(content.length);
        if (utf8.decode(in, out, true).isError()) {
            String before = out.flip().toString();
            problem(
                    1 + (int) before.chars().filter(c -> c == '\n').count(),
                    "expected UTF-8 text, found byte 0x%02X at offset %d; save the file as UTF-8"
                            .formatted(in.get(in.position()), in.position()));
            return Optional.empty();
        }
        String text = out.flip().toString();
        if (text.startsWith(BYTE_ORDER_MARK)) {
            text = text.substring(1);
        }
        return Optional.of(text.stripLeading().startsWith("{") ? yamlOf(text) : text);
    }

    /** JSON is YAML but for tabs between values, and for characters in text that YAML wants escaped or would fold. */
    private static String yamlOf(String json) {
        return ODD_IN_YAML
                .matcher(json.replace('\t', ' '))
                .replaceAll(odd -> "\\\\u%04x".formatted((int) odd.group().charAt(0)));
    }

    private Optional<Node> compose(String text) {
        LoaderOptions options = new LoaderOptions();
        options.setTagInspector(tag -> true); // no objects are made; value() refuses tags and names the key
        try {
            // what Yaml.compose does, without the constructors of objects and the JDK's logging that each Yaml sets up
            var parser = new ParserImpl(new StreamReader(text), options);
            return Optional.ofNullable(new Composer(parser, new Resolver(), options).getSingleNode());
        } catch (MarkedYAMLException e) {
            int line = e.getProblemMark() == null ? 1 : e.getProblemMark().getLine() + 1;
            String context = e.getContext() == null ? "" : " " + e.getContext();
            problem(line, "not valid YAML" + context + ": " + e.getProblem());
        } catch (YAMLException e) {
            problem(1, "not valid YAML: " + e.getMessage());
        }
        return Optional.empty();
    }

    private Optional<YamlNode> value(String path, Node node) {
        String label = path.isEmpty() ? "" : path + ": ";
        if (node.getAnchor() != null) {
            problem(line(node), label + "anchors (&" + node.getAnchor() + ") are not supported; write the value out");
            return Optional.empty();
        }
        if (!Tag.standardTags.contains(node.getTag())) {
            problem(line(node), label + "tags (" + node.getTag() + ") are not supported; write the plain value");
            return Optional.empty();
        }
        if (node instanceof MappingNode mapping) {
            return Optional.of(mapping(path, mapping));
        }
        if (node instanceof SequenceNode sequence) {
            return Optional.of(items(path, sequence));
        }
        ScalarNode scalar = (ScalarNode) node;
        boolean quoted = scalar.getScalarStyle() != ScalarStyle.PLAIN;
        return Optional.of(
                Tag.NULL.equals(scalar.getTag()) && !quoted
                        ? new Nothing(line(node))
                        : new Scalar(line(node), scalar.getValue(), quoted));
    }

    private Items items(String path, SequenceNode sequence) {
        List<YamlNode> items = new ArrayList<>();
        for (Node item : sequence.getValue()) {
            value(path + "[" + items.size() + "]", item).ifPresent(items::add);
        }
        return new Items(line(sequence), items);
    }

    private Mapping mapping(String path, MappingNode node) {
        Map<String, Entry> entries = new LinkedHashMap<>();
        for (NodeTuple tuple : node.getValue()) {
            if (!(tuple.getKeyNode() instanceof ScalarNode keyNode)) {
                problem(line(tuple.getKeyNode()), "expected a name before ':', found a list or section");
                continue;
            }
            String key = keyNode.getValue();
            String full = path.isEmpty() ? key : path + "." + key;
            Entry first = entries.get(key);
            if (first != null) {
                problem(line(keyNode), full + ": given twice, first in line " + first.line() + "; remove one");
                continue;
            }
            value(full, tuple.getValueNode())
                    .ifPresent(value -> entries.put(key, new Entry(key, line(keyNode), value)));
        }
        return new Mapping(line(node), List.copyOf(entries.values()));
    }

    private static int line(Node node) {
        return node.getStartMark().getLine() + 1;
    }

    private void problem(int line, String what) {
        problems.add(Problems.at(source, line), what);
    }
}
