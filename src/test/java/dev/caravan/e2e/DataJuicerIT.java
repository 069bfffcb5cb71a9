package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.caravan.python.PythonEnvironment;
import dev.caravan.python.PythonInfo;
import dev.caravan.python.RecipeCheck;
import dev.caravan.python.RecipeChecker;
import dev.caravan.shard.Claim;
import dev.caravan.shard.Manifest;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import dev.caravan.store.ShardBytes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The real thing: a Python environment made from the lock, real Data-Juicer, real Ray. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DataJuicerIT {
    private static final Path SAMPLES = Path.of("samples").toAbsolutePath();
    private static final Path OPERATORS =
            Path.of("src/test/python/operators/probe_mappers.py").toAbsolutePath();
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PythonInfo PYTHON = RealPython.info();
    private static final List<PythonTests> PYTHON_TESTS = new ArrayList<>();

    @RegisterExtension
    final Fleet fleet = new Fleet().withVariable("XDG_CACHE_HOME", RealPython.XDG_CACHE.toString());

    private Fleet withPython() {
        return fleet.with("python.executable", PYTHON.executable());
    }

    @Test
    void the_environment_is_what_the_lock_says_and_is_made_once() {
        assertThat(PYTHON.dataJuicer()).isEqualTo("1.6.1");
        assertThat(PYTHON.ray()).isEqualTo("2.60.0");
        assertThat(Path.of(PYTHON.executable())).startsWithRaw(RealPython.CACHE);
        assertThat(RealPython.SAID).anyMatch(line -> line.startsWith("Python environment ready after"));

        List<String> again = new ArrayList<>();
        assertThat(PythonEnvironment.of("", RealPython.CACHE).setup(again::add)).isEqualTo(PYTHON);
        assertThat(again).as("nothing is made again").isEmpty();
    }

    @Test
    void the_recipes_of_the_samples_pass_the_real_registry() {
        RecipeChecker checker = new RecipeChecker(RealPython.ENVIRONMENT);
        RecipeCheck quickstart = checker.check(SAMPLES.resolve("quickstart/recipe.yaml"));
        assertThat(quickstart.problems()).isEmpty();
        assertThat(quickstart.operators())
                .extracting(RecipeCheck.Operator::name)
                .containsExactly("whitespace_normalization_mapper", "text_length_filter");
        for (String recipe : List.of("recipe-1gpu.yaml", "recipe-4gpu.yaml")) {
            RecipeCheck gpu = checker.check(SAMPLES.resolve("gpu").resolve(recipe));
            assertThat(gpu.problems()).isEmpty();
            assertThat(gpu.needsGpu()).isTrue();
        }
    }

    @Test
    void two_nodes_make_of_the_quickstart_what_dj_process_makes_of_it_alone() throws IOException {
        String root = fleet.folder().resolve("root").toString();

        JsonNode merged = withPython()
                .run("quickstart", "--root", root, "--json")
                .endsWith(0)
                .json();

        assertThat(merged.at("/rows").asInt()).isEqualTo(795);
        assertThat(merged.at("/shards").size()).isEqualTo(4);
        Layout.Job job = new Layout.Root(Path.of(root)).job("quickstart");
        assertThat(new JobFiles(job).manifest().shards())
                .extracting(shard -> Sample.claim(job, shard.id().toString(), 1)
                        .orElseThrow()
                        .node())
                .as("who claimed; one that is late with its Ray may find its shard done by the other one")
                .hasSize(4)
                .satisfies(nodes -> assertThat(new TreeSet<>(nodes)).hasSize(2));
        List<JsonNode> ours = rows(Path.of(merged.at("/output").asText()));
        assertThat(ours).containsExactlyElementsOf(djProcess(SAMPLES.resolve("quickstart")));
        fleet.run("verify", "--job-dir", root + "/jobs/quickstart").endsWith(0);

        JsonNode again = withPython()
                .run("quickstart", "--root", root, "--json")
                .endsWith(0)
                .json();
        assertThat(again).as("the same job again is a no-op").isEqualTo(merged);
    }

    @Test
    void warm_nodes_make_the_same_bytes_of_any_number_of_shards() throws IOException {
        for (String name : List.of("recipe.yaml", "data.jsonl")) {
            Files.copy(
                    SAMPLES.resolve("quickstart").resolve(name), fleet.folder().resolve(name));
        }
        JsonNode alone = warm("one", 1, 1);
        JsonNode shared = warm("eight", 8, 2);

        assertThat(alone.at("/rows").asInt()).isEqualTo(795);
        assertThat(shared.at("/sha256")).isEqualTo(alone.at("/sha256"));
        assertThat(shared.at("/nodes").size()).isEqualTo(2);
        Path job = fleet.folder().resolve("eight");
        fleet.run("verify", "--job-dir", job.toString()).endsWith(0);
        int shards = 0;
        try (Stream<Path> outcomes = Files.walk(job.resolve("attempts"), 3)) {
            for (Path outcome :
                    outcomes.filter(file -> file.endsWith("outcome.json")).toList()) {
                JsonNode warm = JSON.readTree(Files.readAllBytes(outcome)).at("/warm");
                shards++;
                assertThat(warm.at("/constructed/0/text_length_filter").asInt())
                        .as("constructions up to shard %s of a runner", warm.at("/shard"))
                        .isEqualTo(1);
            }
        }
        assertThat(shards).isEqualTo(8);
    }

    /**
     * The proof: an operator fails once, and a node is killed while it has a shard, which is then done with a Ray of its
     * own, so that the warm and the cold engine are compared too.
     */
    @Test
    void sixteen_shards_on_three_nodes_with_a_retry_and_a_takeover_make_the_bytes_of_one_shard_on_one_node()
            throws IOException {
        fleet.withShortLeases();
        Sample.write(fleet.folder().resolve("recipe.yaml"), """
                custom_operator_paths: ['%s']
                skip_op_error: false
                process:
                  - whitespace_normalization_mapper: {}
                  - stumbling_mapper: {folder: '%s', fails_on: 300, hangs_on: 1100, input_columns: [id, text]}
                  - text_length_filter: {min_len: 12}
                """.formatted(OPERATORS, fleet.folder()));
        Sample.write(
                fleet.folder().resolve("data.jsonl"),
                IntStream.range(0, 1600).mapToObj(DataJuicerIT::oddRow).collect(Collectors.joining()));
        Layout.Job job = new Layout.Job(fleet.folder().resolve("shared"));
        List<CaravanProcess> nodes = starts("shared", 16, 3);
        Await.until(
                "a node has the shard that hangs",
                () -> Files.exists(fleet.folder().resolve("hung")));
        Claim hanging = lastClaim(job, 1100);

        nodes.stream().filter(node -> node.pid() == hanging.pid()).forEach(CaravanProcess::kill);

        List<CaravanProcess> left =
                nodes.stream().filter(node -> node.pid() != hanging.pid()).toList();
        assertThat(left).hasSize(2);
        left.forEach(node -> node.endsWith(0));
        JsonNode shared = left.get(0).json();
        assertThat(lastClaim(job, 1100).tookOver()).as("the takeover").isEqualTo(hanging.token());
        assertThat(lastClaim(job, 300).spent().data()).as("the retry").isEqualTo(1);
        JsonNode alone = warm("alone", 1, 1);

        assertThat(shared.at("/sha256")).isEqualTo(alone.at("/sha256"));
        assertThat(shared.at("/ledger")).isEqualTo(alone.at("/ledger"));
        assertThat(alone.at("/operators/2/rows_out").asInt()).isEqualTo(1_440);
        System.out.println("proof: " + alone.at("/rows") + " rows, sha256 "
                + alone.at("/sha256").asText());
        List<String> merged = Files.readAllLines(Path.of(shared.at("/output").asText()));
        assertThat(merged)
                .hasSize(1_440)
                .element(2)
                .isEqualTo(
                        "{\"id\":3, \"text\":\"ROW   NUMBER 3\",\"n\":null,\"o\":{}, \"__dj__stats__\": {\"text_len\": 14}}");
        for (String name : List.of("shared", "alone")) {
            assertThat(fleet.run("verify", "--job-dir", name).endsWith(0).stdout())
                    .contains("1600 rows in, 1440 out, 160 filtered, 0 expanded, 0 failed");
        }
    }

    /** Values that a table of one type a key would change, keys that come and go, and text to work on. */
    private static String oddRow(int i) {
        String text = i % 10 == 0 ? "short" : "row   number " + i;
        String odd = List.of(
                        "\"big\":9223372036854775808" + i,
                        "\"price\":1.10,\"e\":[]",
                        "\"code\":\"00123\",\"day\":\"2024-01-01\"",
                        "\"n\":null,\"o\":{}",
                        "\"m\":\"one\"",
                        "\"m\":1",
                        "\"meta\":{\"deep\":{\"er\":[1,\"2\"]}}")
                .get(i % 7);
        return "{\"id\":%d, \"text\":\"%s\",%s%s}%n".formatted(i, text, odd, i > 1_590 ? ",\"late\":{\"k\":1}" : "");
    }

    /** Of the shard that holds the row with this id. */
    private static Claim lastClaim(Layout.Job job, int id) throws IOException {
        for (Manifest.Shard shard : new JobFiles(job).manifest().shards()) {
            if (records(job, shard).contains("{\"id\":" + id + ",")) {
                String key = shard.id().toString();
                long epoch = new JobFiles(job).locks().highestEpochs().get(key);
                return Sample.claim(job, key, epoch).orElseThrow();
            }
        }
        throw new AssertionError("no shard has row " + id);
    }

    private static String records(Layout.Job job, Manifest.Shard shard) throws IOException {
        try (InputStream in = ShardBytes.open(job, shard)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** A run with {@code ray.address: warm}, and what was merged. */
    private JsonNode warm(String name, int shards, int nodes) {
        List<CaravanProcess> running = starts(name, shards, nodes);
        running.forEach(node -> node.endsWith(0));
        return running.get(0).json();
    }

    private List<CaravanProcess> starts(String name, int shards, int nodes) {
        Sample.write(fleet.folder().resolve(name + ".yaml"), """
                name: %s
                recipe: recipe.yaml
                dataset_path: data.jsonl
                num_shards: %d
                ray: {address: warm, num_cpus: 1}
                policy: {speculate: false}
                """.formatted(name, shards));
        return IntStream.range(0, nodes)
                .mapToObj(node ->
                        withPython().start("run", name + ".yaml", "--job-dir", name, "--run-id", "warm", "--json"))
                .toList();
    }

    /** The operators of {@code samples/gpu/recipe-4gpu.yaml} are of this form. */
    @Test
    void a_shard_works_on_the_four_gpus_that_the_job_asks_for_at_once_and_on_no_other() throws IOException {
        Path meeting = Files.createDirectories(fleet.folder().resolve("meeting"));
        Sample.write(fleet.folder().resolve("recipe.yaml"), """
                custom_operator_paths: ['%s']
                skip_op_error: false
                auto_op_parallelism: false
                override_num_blocks: 4
                process:
                  - gpu_probe_mapper:
                      folder: %s
                      together: 4
                      accelerator: cuda
                      ray_execution_mode: task
                      num_gpus: 1
                      num_cpus: 0.5
                      batch_size: 1
                      num_proc: 4
                """.formatted(OPERATORS, meeting));
        Sample.write(fleet.folder().resolve("data.jsonl"), "{\"text\":\"a\"}\n".repeat(12));
        Sample.write(fleet.folder().resolve("job.yaml"), """
                name: gpus
                recipe: recipe.yaml
                dataset_path: data.jsonl
                num_shards: 1
                ray: {address: local, num_cpus: 4, num_gpus: 4}
                policy: {max_retries: 0}
                """);
        String jobDir = fleet.folder().resolve("job").toString();

        assertThat(withPython()
                        .run("run", "job.yaml", "--job-dir", jobDir, "--run-id", "no-gpu")
                        .endsWith(2)
                        .stderr())
                .as("a node without GPUs does not take the job")
                .contains("asks for GPUs: 4, this node has none");

        JsonNode merged = withPython()
                .with("gpus.logical", "6")
                .run("run", "job.yaml", "--job-dir", jobDir, "--run-id", "six-gpus", "--json")
                .endsWith(0)
                .json();

        List<JsonNode> rows = rows(Path.of(merged.at("/output").asText()));
        assertThat(rows).hasSize(12);
        TreeSet<String> used = new TreeSet<>();
        rows.forEach(row -> {
            assertThat(row.at("/visible").asText()).isEqualTo(row.at("/gpu_ids").asText());
            used.add(row.at("/gpu_ids").asText());
        });
        assertThat(used).as("devices of the grant, one a task").containsExactly("0", "1", "2", "3");
        assertThat(meeting).as("once four were there").isDirectoryContaining("glob:**/met");
    }

    @Test
    void a_recipe_for_the_whole_data_set_is_refused_before_anything_is_written() {
        Sample.write(fleet.folder().resolve("recipe.yaml"), "process:\n  - document_deduplicator: {}\n");
        Sample.write(fleet.folder().resolve("data.jsonl"), "{\"text\":\"a\"}\n");

        CaravanProcess prepare = withPython()
                .run(
                        "prepare",
                        "--config",
                        "recipe.yaml",
                        "--dataset-path",
                        "data.jsonl",
                        "--job-dir",
                        "job",
                        "--num-shards",
                        "1")
                .endsWith(2);

        assertThat(prepare.stderr()).contains("recipe.yaml:2", "document_deduplicator");
        assertThat(Sample.names(fleet.folder())).noneMatch(name -> name.contains("job"));
    }

    /** Tests of the Python side in a process of their own, beside the tests of this class: all wait for Ray mostly. */
    private static final class PythonTests {
        private final Path log;
        private final Process process;

        PythonTests(List<String> modules) throws IOException {
            log = Path.of("target", "python-tests", modules.get(0) + ".log").toAbsolutePath();
            Sample.write(log, "");
            process = new ProcessBuilder(
                            Stream.concat(Stream.of(PYTHON.executable(), "-m", "unittest", "-v"), modules.stream())
                                    .toList())
                    .directory(Path.of("src/test/python").toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
        }

        void passed() throws InterruptedException {
            int exitCode = process.waitFor();
            assertThat(exitCode).as(Sample.read(log)).isZero();
            assertThat(Sample.read(log))
                    .containsPattern("Ran [1-9][0-9]* tests")
                    .doesNotContain("skipped");
        }
    }

    @BeforeAll
    static void startPythonTests() throws IOException {
        List<String> modules = Sample.names(Path.of("src/test/python")).stream()
                .filter(name -> name.matches("test_.*\\.py"))
                .map(name -> name.replace(".py", ""))
                .toList();
        List<String> slow = List.of("test_serve", "test_mini_batch", "test_carry", "test_outcome");
        PYTHON_TESTS.add(new PythonTests(slow));
        PYTHON_TESTS.add(new PythonTests(
                modules.stream().filter(name -> !slow.contains(name)).toList()));
    }

    @AfterAll
    static void endPythonTests() {
        PYTHON_TESTS.forEach(tests -> tests.process.destroy());
    }

    @Test
    @Order(Integer.MAX_VALUE)
    void the_python_side_passes_its_own_tests() throws InterruptedException {
        for (PythonTests tests : PYTHON_TESTS) {
            tests.passed();
        }
    }

    /** What Data-Juicer makes of a sample in one go. */
    private List<JsonNode> djProcess(Path sample) throws IOException {
        Path log = fleet.folder().resolve("dj-process.log");
        Path out = fleet.folder().resolve("alone").resolve("out.jsonl");
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(PYTHON.executable())
                                .resolveSibling("dj-process")
                                .toString(),
                        "--config",
                        sample.resolve("recipe.yaml").toString(),
                        "--dataset_path",
                        sample.resolve("data.jsonl").toString(),
                        "--export_path",
                        out.toString(),
                        "--executor_type",
                        "ray",
                        "--ray_address",
                        "local")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment()
                .keySet()
                .removeIf(name -> name.startsWith("RAY_") || name.equals("PYTHONDONTWRITEBYTECODE"));
        try {
            assertThat(builder.start().waitFor()).as(Sample.read(log)).isZero();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        List<JsonNode> rows = new ArrayList<>();
        try (Stream<Path> files = Files.list(out)) {
            files.filter(file -> file.toString().endsWith(".json")).sorted().forEach(file -> rows.addAll(rows(file)));
        }
        return rows;
    }

    /** Records, where absent and null are the same. */
    private static List<JsonNode> rows(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            List<JsonNode> rows = new ArrayList<>();
            for (String line : (Iterable<String>) lines::iterator) {
                rows.add(withoutNulls(JSON.readTree(line)));
            }
            return rows;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JsonNode withoutNulls(JsonNode node) {
        if (node instanceof ObjectNode object) {
            List<String> nulls = new ArrayList<>();
            object.properties().forEach(member -> {
                if (member.getValue().isNull()) {
                    nulls.add(member.getKey());
                } else {
                    withoutNulls(member.getValue());
                }
            });
            object.remove(nulls);
        } else {
            node.forEach(DataJuicerIT::withoutNulls);
        }
        return node;
    }
}
