package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What holds for all engines alike: each is made to do the work of {@code src/test/python/contract}. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class EngineContractIT {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();
    private static final Path WORK = Path.of("src/test/python/contract/contract.py");

    /** What befalls records, by their ids: the guilty ones whenever they are worked on, the last three once. */
    private static final Map<Integer, String> DOES =
            Map.of(1, "print", 2, "raise", 3, "sys.exit", 8, "memory", 14, "killed", 20, "hang");

    private static final List<Integer> GUILTY = List.of(2, 3);
    private static final int RECORDS = 24;

    @RegisterExtension
    final Fleet fleet = new Fleet().withShortLeases().withVariable("XDG_CACHE_HOME", RealPython.XDG_CACHE.toString());

    @BeforeEach
    void setPython() {
        fleet.with("python.executable", RealPython.info().executable())
                .withVariable("CONTRACT_FOLDER", fleet.folder().toString())
                .withVariable("CONTRACT_RECORDS", records().toString());
    }

    private Path records() {
        return fleet.folder().resolve("records.jsonl");
    }

    private void writeRecords(List<? extends JsonNode> records) {
        StringBuilder lines = new StringBuilder();
        for (JsonNode record : records) {
            lines.append(record).append('\n');
            String name = record.at("/id").asText() + ".json";
            Sample.write(fleet.folder().resolve("records").resolve(name), record.toString());
        }
        Sample.write(records(), lines.toString());
    }

    /** How an engine is asked to do the work, and where it tells what it has made of a record. */
    private enum Form {
        COMMAND("command: ['%s', '%s', '{input}', '{output}']", ""),
        DATA_JUICER("recipe: '%2$s.yaml'", ""),
        PLAN_EXECUTE("script: '%2$s'\nplan_execute: {workers: 1}", "/result"),
        MINI_BATCH("""
                script: '%2$s'
                mini_batch:
                  inputs: [%3$s]
                  mini_batch_size: 1
                  process_count_per_node: 1
                  run_invocation_timeout: 3600
                """, "/results/0");

        private final String fields;
        private final String result;

        Form(String fields, String result) {
            this.fields = fields;
            this.result = result;
        }

        String engine() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        private boolean readsRecords() {
            return this == COMMAND || this == DATA_JUICER;
        }

        /** Of a job with this script, and with its recipe beside it. */
        String descriptor(String name, Path records, Path script, String more) {
            Sample.write(script.resolveSibling(script.getFileName() + ".yaml"), """
                    custom_operator_paths: ['%s']
                    skip_op_error: false
                    process:
                      - contract_mapper: {input_columns: [id, text, does]}
                    """.formatted(script));
            return String.join(
                    "\n",
                    "name: " + name,
                    "engine: " + engine(),
                    fields.formatted(RealPython.info().executable(), script, records.resolveSibling("records")),
                    readsRecords() ? "dataset_path: " + records : "",
                    "ray: {num_cpus: 1}",
                    more,
                    "");
        }

        JsonNode result(String row) throws IOException {
            JsonNode found = JSON.readTree(row).at(result);
            return found.isTextual() ? JSON.readTree(found.asText()) : found;
        }
    }

    private static ObjectNode record(int id, String does) throws IOException {
        String odd = List.of(
                        "\"big\":9223372036854775808" + id,
                        "\"price\":0.1,\"e\":[],\"o\":{}",
                        "\"code\":\"00123\",\"day\":\"2024-01-01\",\"n\":null",
                        id > 18 ? "\"late\":{\"deep\":[1,\"2\",null]}" : "\"m\":" + (id % 2 == 0 ? "1" : "\"one\""))
                .get(id % 4);
        return (ObjectNode) JSON.readTree(
                "{\"id\":\"r-%02d\",\"text\":\"word “%d”\",\"does\":\"%s\",%s}".formatted(id, id, does, odd));
    }

    @ParameterizedTest
    @EnumSource
    void all_but_what_fails_by_itself_comes_out_once_and_in_order_whatever_befalls_a_node(Form form)
            throws IOException {
        List<ObjectNode> records = new ArrayList<>();
        for (int id = 0; id < RECORDS; id++) {
            records.add(record(id, DOES.getOrDefault(id, "")));
        }
        writeRecords(records);
        Path script = Files.copy(WORK, fleet.folder().resolve("contract.py"));
        String more = "num_shards: 4\n" + (form.readsRecords() ? "policy: {isolate_poison: true}" : "");
        Sample.write(fleet.folder().resolve("job.yaml"), form.descriptor(form.engine(), records(), script, more));
        fleet.with("node.prefetch", "0"); // a shard that has only been claimed would be taken over with a cold Ray
        String[] run = {"run", "job.yaml", "--job-dir", "job", "--run-id", "one", "--json"};
        CaravanProcess first = fleet.start(run);
        Await.until(
                "a record hangs",
                () -> Files.exists(fleet.folder().resolve("hang")) || !first.isAlive(),
                first::toString);
        CaravanProcess second = fleet.start(run);
        first.kill();

        JsonNode merged = second.endsWith(0).json();

        List<JsonNode> results = new ArrayList<>();
        for (String row : Files.readAllLines(Path.of(merged.at("/output").asText()))) {
            results.add(form.result(row));
        }
        List<ObjectNode> expected = IntStream.range(0, RECORDS)
                .filter(id -> !GUILTY.contains(id))
                .mapToObj(records::get)
                .map(record -> record.put("text", record.at("/text").asText().toUpperCase(Locale.ROOT)))
                .toList();
        assertThat(results).containsExactlyElementsOf(expected);
        assertThat(merged.at("/ledger").toString())
                .isEqualTo("{\"rows_in\":24,\"rows_out\":22,\"filtered\":0,\"expanded\":0,\"failed\":2}");
        assertThat(Sample.names(fleet.folder())).contains("memory", "killed");
        List<String> failures = failures(new Layout.Job(fleet.folder().resolve("job")));
        assertThat(failures).hasSize(2);
        assertThat(failures.get(0)).contains(form == Form.COMMAND ? "exit code 1" : "LookupError: no word for r-02");
        assertThat(failures.get(1)).containsPattern(form == Form.COMMAND ? "exit code 3" : "xit.*3");
        fleet.run("verify", "--job-dir", "job").endsWith(0);
    }

    /** The records that were set aside, in order. */
    private static List<String> failures(Layout.Job job) throws IOException {
        List<String> failures = new ArrayList<>();
        for (Manifest.Shard shard : new JobFiles(job).manifest().shards()) {
            DoneRecord done = new JobFiles(job).done(shard.id()).orElseThrow();
            if (done.failures() != null) {
                failures.addAll(Files.readAllLines(job.resolve(done.failures().path())));
            }
        }
        return failures;
    }

    /** What is wrong with a script, and what is told of it. */
    private enum Fault {
        SYNTAX("def _start():", "def _start() return:", "SyntaxError"),
        IMPORT("import json", "import no_such_module, json", "no_such_module"),
        START("def _start():", "def _start():\n    raise RuntimeError('no model')", "no model"),
        LOOP("def work(record):", "def work(record):\n    while True: pass", "ran longer than 20s");

        private final String good;
        private final String bad;
        private final String told;

        Fault(String good, String bad, String told) {
            this.good = good;
            this.bad = bad;
            this.told = told;
        }

        String jobWith(Form form) {
            return name().toLowerCase(Locale.ROOT) + "-" + form.engine();
        }
    }

    @Test
    void a_script_that_cannot_work_ends_its_job_with_the_reason_and_the_node_goes_on_with_others() throws IOException {
        writeRecords(List.of(record(1, "")));
        Layout.Root root = new Layout.Root(fleet.folder().resolve("root"));
        Files.createDirectories(root.inbox());
        for (Fault fault : Fault.values()) {
            for (Form form : Form.values()) {
                Path script = fleet.folder().resolve(fault + "-" + form + ".py");
                Sample.write(script, Sample.read(WORK).replace(fault.good, fault.bad));
                String name = fault.jobWith(form);
                String oneAttempt = "policy: {max_retries: 0, max_infra_retries: 0, max_timeout_retries: 0";
                Sample.write(
                        root.inbox().resolve(name + ".yaml"),
                        form.descriptor(name, records(), script, oneAttempt + ", attempt_timeout: 20s}"));
            }
        }

        fleet.with("node.slots", "4").run("node", "--root", "root", "--once").endsWith(2);

        for (Fault fault : Fault.values()) {
            for (Form form : Form.values()) {
                String name = fault.jobWith(form);
                assertThat(told(root.job(name))).as("told of %s", name).contains(fault.told);
                assertThat(root.job(name).mergeRecord()).doesNotExist();
            }
        }
    }

    /** Where users are sent: how preparing ended, which shards failed for good, and the log of the attempt. */
    private static String told(Layout.Job job) throws IOException {
        StringBuilder told = new StringBuilder();
        for (Path folder : List.of(job.path(), job.coordination())) {
            try (Stream<Path> files = Files.exists(folder) ? Files.walk(folder) : Stream.empty()) {
                files.filter(file -> file.endsWith("prepare-result.json")
                                || file.endsWith("process.log")
                                || file.startsWith(job.failedRecords()) && Files.isRegularFile(file))
                        .forEach(file -> told.append(Sample.read(file)));
            }
        }
        return told.toString();
    }
}
