package dev.caravan.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "claim.lease, 45s, DURATION",
        "claim.heartbeat, 10s, DURATION",
        "claim.margin, 10s, DURATION",
        "claim.poll, 2s, DURATION",
        "claim.watch, 32, INTEGER",
        "retry.backoff, 5s, DURATION",
        "retry.backoff_max, 60s, DURATION",
        "retry.other_node_first, 10s, DURATION",
        "node.id, '', TEXT",
        "node.slots, 1, INTEGER",
        "node.prefetch, 1, INTEGER",
        "node.drain, 10s, DURATION",
        "node.routes, '', TEXT",
        "intake.settle, 2s, DURATION",
        "intake.shard_bytes, 64MiB, SIZE",
        "exec.grace, 10s, DURATION",
        "exec.scratch, '', TEXT",
        "exec.commit_every, 30s, DURATION",
        "gpus.devices, '', TEXT",
        "node.min_free, 256MiB, SIZE",
        "gpus.logical, 0, INTEGER",
        "python.executable, '', TEXT",
        "http.host, 127.0.0.1, TEXT",
        "http.port, 0, INTEGER",
        "http.token, '', TEXT",
        "run.wait, 35h, DURATION"
    })
    void every_key_has_its_name_default_and_kind(String key, String value, Kind kind) {
        assertThat(Schema.packaged().get(key)).isEqualTo(new Setting(key, kind, value, "default"));
        assertThat(load().properties().getProperty("caravan." + key)).isEqualTo(value);
        assertThat(load().origin(key)).isEqualTo("default");
    }

    @Test
    void there_are_no_keys_but_those_of_the_table_above() {
        assertThat(load().keys()).hasSize(26);
        assertThat(load().properties()).hasSize(26);
    }

    @Test
    void values_are_read_by_their_kind() {
        assertThat(load().duration("run.wait")).isEqualTo(Duration.ofHours(35));
        assertThat(load().integer("claim.watch")).isEqualTo(32);
        assertThat(load().size("node.min_free")).isEqualTo(256L << 20);
        assertThat(load().text("http.host")).isEqualTo("127.0.0.1");
        assertThatThrownBy(() -> load().integer("claim.lease")).hasMessageContaining("DURATION, not a INTEGER");
        assertThatThrownBy(() -> load().text("claim.leese")).hasMessageContaining("no setting claim.leese");
    }

    @Test
    void each_key_of_the_packaged_file_has_a_comment_above_it() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("configs/caravan.yaml"));
        int keys = 0;
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).matches("  \\w+:.*")) {
                keys++;
                assertThat(lines.get(i - 1)).as("above '%s'", lines.get(i)).matches(" {2}# \\S.*");
            }
        }
        assertThat(keys).isEqualTo(26);
    }

    @Test
    void a_later_layer_wins_and_origin_tells_which() throws IOException {
        Path first = file("first.yaml", "claim:\n  poll: 3s\n  watch: 3\n  margin: 3s\nnode:\n  slots: 3\n");
        Path second = file("second.yaml", "claim:\n  watch: 4\n  margin: 4s\nnode:\n  slots: 4\n");
        Properties options = options("caravan.node.slots", "6");

        Settings settings = Settings.load(
                List.of(first, second), Map.of("CARAVAN_CLAIM_MARGIN", "5s", "CARAVAN_NODE_SLOTS", "5"), options);

        assertThat(settings.duration("claim.poll")).hasSeconds(3);
        assertThat(settings.integer("claim.watch")).isEqualTo(4);
        assertThat(settings.duration("claim.margin")).hasSeconds(5);
        assertThat(settings.integer("node.slots")).isEqualTo(6);
        assertThat(settings.origin("claim.poll")).isEqualTo(first + ":2");
        assertThat(settings.origin("claim.watch")).isEqualTo(second + ":2");
        assertThat(settings.origin("claim.margin")).isEqualTo("environment variable CARAVAN_CLAIM_MARGIN");
        assertThat(settings.origin("node.slots")).isEqualTo("-Dcaravan.node.slots");
    }

    @Test
    void every_key_can_be_set_by_a_variable_and_by_an_option() {
        for (Setting setting : Schema.packaged().values()) {
            String variable = "CARAVAN_" + setting.key().toUpperCase().replace('.', '_');
            Settings settings = Settings.load(List.of(), Map.of(variable, valid(setting)), new Properties());
            assertThat(settings.origin(setting.key())).isEqualTo("environment variable " + variable);

            settings = Settings.load(List.of(), Map.of(), options("caravan." + setting.key(), valid(setting)));
            assertThat(settings.origin(setting.key())).isEqualTo("-Dcaravan." + setting.key());
        }
    }

    private static String valid(Setting setting) {
        return setting.value().isEmpty() ? "x".repeat(16) : setting.value();
    }

    @Test
    void a_folder_stands_for_the_caravan_yaml_in_it() throws IOException {
        file("caravan.yaml", "http:\n  port: 8080\n");

        assertThat(load(folder).integer("http.port")).isEqualTo(8080);
    }

    @Test
    void a_dotted_key_is_the_same_as_a_nested_one() throws IOException {
        assertThat(load(file("a.yaml", "http.port: 8080\n")).integer("http.port"))
                .isEqualTo(8080);
        assertThat(refusal(file("b.yaml", "http.port: 8080\nhttp:\n  port: 8081\n")))
                .containsExactly(folder + "/b.yaml:3: http.port: given twice, first in line 1; remove one");
    }

    @Test
    void a_server_that_other_machines_reach_needs_a_token_of_some_length() throws IOException {
        assertThat(refusal(file("a.yaml", "http.host: 0.0.0.0\n")))
                .containsExactly(folder + "/a.yaml:1: http.token: expected a secret, since http.host 0.0.0.0 lets other"
                        + " machines in, found '' (the default); set http.token, or keep http.host 127.0.0.1");
        assertThat(refusal(file("b.yaml", "http.token: short\n")))
                .singleElement()
                .asString()
                .contains("at least 16");
        assertThat(load(file("c.yaml", "http:\n  host: 0.0.0.0\n  token: 0123456789abcdef\n"))
                        .text("http.host"))
                .isEqualTo("0.0.0.0");
        assertThat(load(file("d.yaml", "http.host: ::1\n")).text("http.host")).isEqualTo("::1");
    }

    @Test
    void an_empty_file_and_an_empty_section_change_nothing() throws IOException {
        Path commented = file("a.yaml", "claim:\n#  lease: 45s\ncamel:\n");
        Path empty = file("b.yaml", "");

        assertThat(Settings.load(List.of(commented, empty), Map.of(), new Properties())
                        .properties())
                .isEqualTo(load().properties());
    }

    @Test
    void camel_keys_pass_through_as_they_are() throws IOException {
        Path file = file(
                "a.yaml",
                "camel:\n  main:\n    name: caravan\n    bogus: [a, b]\ncamel.health.enabled: true\n"
                        + "camel.management.port: '{{caravan.http.port}}'\n");

        assertThat(load(file).properties())
                .containsEntry("camel.main.name", "caravan")
                .containsEntry("camel.main.bogus", "a,b")
                .containsEntry("camel.health.enabled", "true")
                .containsEntry("camel.management.port", "{{caravan.http.port}}")
                .hasSize(30);
    }

    @Test
    void everything_wrong_with_all_layers_is_reported_at_once() throws IOException {
        Path file = file(
                "caravan.yaml",
                "claim:\n  leese: 60s\n  watch: many\nretry:\n  backoff: 5\nlease: 8s\nhttp: 8080\nnode:\n"
                        + "  slots: [1, 2]\n  routes:\n");
        Map<String, String> environment = Map.of("CARAVAN_CLAIM_LEESE", "8s", "CARAVAN_HTTP_PORT", "http");

        SettingsException refused = catchThrowableOfType(
                SettingsException.class,
                () -> Settings.load(
                        List.of(file, folder.resolve("none.yaml")),
                        environment,
                        options("caravan.node.slot", "2", "caravan.run.wait", "-1h")));

        assertThat(refused.problems())
                .containsExactly(
                        file + ":2: claim.leese: unknown key; did you mean claim.lease?",
                        file + ":3: claim.watch: expected a whole number, found 'many'",
                        file + ":5: retry.backoff: expected a duration (a whole number and a unit: 500ms, 8s, 2m, 35h,"
                                + " 1d), found '5': the unit is missing; write 5s if seconds are meant",
                        file + ":6: lease: unknown key; did you mean claim.lease?",
                        file
                                + ":7: http: expected a section with keys of its own (http.host, http.port, http.token), found"
                                + " '8080'",
                        file + ":9: node.slots: expected a whole number, found a list; remove the line to keep the"
                                + " default",
                        file + ":10: node.routes: expected text, found nothing; remove the line to keep the default",
                        folder + "/none.yaml: expected a settings file, found none; check the path",
                        "environment variable CARAVAN_CLAIM_LEESE: unknown setting; did you mean CARAVAN_CLAIM_LEASE?",
                        "environment variable CARAVAN_HTTP_PORT: http.port: expected a whole number, found 'http'",
                        "-Dcaravan.node.slot: unknown setting; did you mean -Dcaravan.node.slots?",
                        "-Dcaravan.run.wait: run.wait: expected a duration (a whole number and a unit: 500ms, 8s, 2m,"
                                + " 35h, 1d), found '-1h': a duration cannot be negative");
        assertThat(refused.getMessage().lines()).hasSize(13);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "claim.lease | 39s | expected at least 4 x claim.heartbeat = 40s, found '39s'; raise claim.lease",
                "claim.margin | 23s | expected less than half of claim.lease = 22500ms, found '23s'; lower claim.m",
                "claim.margin | 0s | expected more than nothing, found '0s'",
                "claim.poll | 0ms | expected more than nothing, found '0ms'",
                "retry.backoff | 0s | expected more than nothing, found '0s'",
                "run.wait | 0s | expected more than nothing, found '0s'",
                "retry.backoff_max | 4s | expected at least retry.backoff = 5s, found '4s'",
                "claim.watch | 0 | expected at least 1, found '0'",
                "node.slots | 0 | expected at least 1, found '0'",
                "intake.shard_bytes | 0KiB | expected at least 1B, found '0KiB'",
                "node.prefetch | -1 | expected at least 0, found '-1'",
                "gpus.logical | -1 | expected at least 0, found '-1'",
                "http.port | 65536 | expected 0 to 65535, found '65536'",
                "http.port | -1 | expected 0 to 65535, found '-1'",
                "http.port | 99999999999 | expected a whole number, found '99999999999'",
                "node.id | a/b | expected at most 100 letters, digits, dots, dashes, underscores",
                "http.host | '' | expected a host name or address"
            })
    void unsafe_values_are_refused(String key, String value, String expected) {
        List<String> problems = refusal(options("caravan." + key, value));

        assertThat(problems).singleElement().asString().startsWith("-Dcaravan." + key + ": " + key + ": " + expected);
    }

    @ParameterizedTest
    @CsvSource({"claim.lease, 40s", "claim.margin, 22s", "http.port, 65535", "retry.other_node_first, 0s"})
    void values_at_the_edge_of_safety_are_taken(String key, String value) {
        assertThat(Settings.load(List.of(), Map.of(), options("caravan." + key, value))
                        .properties())
                .containsEntry("caravan." + key, value);
    }

    @Test
    void a_rule_of_two_keys_is_reported_where_the_user_wrote_one() throws IOException {
        assertThat(refusal(file("a.yaml", "claim:\n  heartbeat: 12s\n")))
                .containsExactly(folder + "/a.yaml:2: claim.lease: expected at least 4 x claim.heartbeat = 48s, found"
                        + " '45s' (the default); raise claim.lease or lower claim.heartbeat, else a living node is"
                        + " taken for dead");
    }

    @Test
    void a_value_that_cannot_be_read_is_not_judged_a_second_time() throws IOException {
        assertThat(refusal(file("a.yaml", "claim:\n  heartbeat: 12s\n  lease: soon\n")))
                .singleElement()
                .asString()
                .startsWith(folder + "/a.yaml:3: claim.lease: expected a duration");
    }

    @Test
    void variables_that_are_not_settings_are_left_alone() {
        Map<String, String> environment = Map.of(
                "CARAVAN_CONFIGS", "/etc/caravan",
                "CARAVAN_HOME", "/opt/caravan",
                "CARAVAN_RAY_DIR", "/tmp/ray",
                "CARAVAN_HTTP_PORT", "tcp://10.0.0.7:80",
                "CARAVAN_PORT", "tcp://10.0.0.7:80",
                "CARAVAN_PORT_80_TCP_ADDR", "10.0.0.7",
                "CARAVAN_SERVICE_HOST", "10.0.0.7",
                "CARAVAN_HTTP_SERVICE_PORT_WEB", "80",
                "PATH", "/usr/bin");

        assertThat(Settings.load(List.of(), environment, new Properties()).properties())
                .isEqualTo(load().properties());
    }

    @Test
    void options_of_other_programs_are_left_alone() {
        assertThat(Settings.load(List.of(), Map.of(), options("caravanserai", "x", "camel.main.name", "y"))
                        .properties())
                .isEqualTo(load().properties());
    }

    @Test
    void a_flag_is_true_or_false() {
        Map<String, Setting> defaults = Schema.packaged();
        defaults.put("demo.on", new Setting("demo.on", Kind.BOOLEAN, "false", "default"));

        assertThat(Settings.load(defaults, List.of(), Map.of("CARAVAN_DEMO_ON", "true"), new Properties())
                        .flag("demo.on"))
                .isTrue();
        assertThatThrownBy(() -> Settings.load(defaults, List.of(), Map.of("CARAVAN_DEMO_ON", "yes"), new Properties()))
                .hasMessageContaining("demo.on: expected true or false, found 'yes'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"45s", "500ms", "1d"})
    void a_kind_is_seen_from_the_default(String duration) {
        assertThat(kinds("a: " + duration)).containsExactly(Kind.DURATION);
        assertThat(kinds("a: '" + duration + "'\nb: -3\nc: true\nd: 127.0.0.1\ne: ''"))
                .containsExactly(Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.TEXT, Kind.TEXT);
    }

    private static List<Kind> kinds(String yaml) {
        return Schema.of(yaml.getBytes(StandardCharsets.UTF_8)).values().stream()
                .map(Setting::kind)
                .toList();
    }

    private static Settings load(Path... files) {
        return Settings.load(List.of(files), Map.of(), new Properties());
    }

    private static List<String> refusal(Path file) {
        return catchThrowableOfType(SettingsException.class, () -> load(file)).problems();
    }

    private static List<String> refusal(Properties options) {
        return catchThrowableOfType(SettingsException.class, () -> Settings.load(List.of(), Map.of(), options))
                .problems();
    }

    private static Properties options(String... keysAndValues) {
        Properties properties = new Properties();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            properties.setProperty(keysAndValues[i], keysAndValues[i + 1]);
        }
        return properties;
    }

    private Path file(String name, String content) throws IOException {
        return Files.writeString(folder.resolve(name), content);
    }
}
