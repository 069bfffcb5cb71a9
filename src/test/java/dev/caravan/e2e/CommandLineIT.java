package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CommandLineIT {
    /** The options of Data-Juicer's elastic sharding, each command with a mistake that is found once all are read. */
    private static final Map<String, String> OPTIONS = new LinkedHashMap<>();

    static {
        OPTIONS.put(
                "prepare",
                "--config r.yaml --dataset-path d.jsonl --job-dir j --num-shards 4 --lock-timeout-secs 60"
                        + " --max-retries 2 --poll-interval-secs 5 --ray-address cluster");
        OPTIONS.put(
                "worker",
                "--job-dir j --max-shards 1 --lock-timeout-secs 60 --max-retries 2 --poll-interval-secs 5"
                        + " --ray-address local --allow-version-mismatch");
        OPTIONS.put("status", "--job-dir j --lock-timeout-secs 60 --json --all");
        OPTIONS.put("retry", "--job-dir j --shard-id part-00000-of-00002 --shard-id part-00001-of-00002");
        OPTIONS.put("rerun", "--quarantined --job-dir j --new-job-dir n --repaired r.txt --output o.jsonl --json");
        OPTIONS.put("merge", "--job-dir j --output o.jsonl --lock-timeout-secs 60 --overwrite");
        OPTIONS.put("verify", "--job-dir j --expect-nodes 2");
        OPTIONS.put(
                "dlc",
                "--job-dir j --config r.yaml --dataset-path d.jsonl --nodes 5 --num-shards 4 --require-all-nodes"
                        + " --ray-address local --output o.jsonl --run-id 7 --wait-timeout-secs 60"
                        + " --poll-interval-secs 2");
    }

    @RegisterExtension
    final Fleet fleet = new Fleet();

    @Test
    void commands_take_the_options_that_people_know_and_show_them_in_their_help() {
        Map<String, CaravanProcess> called = new LinkedHashMap<>();
        Map<String, CaravanProcess> helped = new LinkedHashMap<>();
        OPTIONS.forEach((command, options) -> {
            List<String> arguments = new ArrayList<>(List.of(command));
            arguments.addAll(List.of(options.split(" ")));
            called.put(command, fleet.run(arguments.toArray(String[]::new)));
            helped.put(command, fleet.run(command, "--help"));
        });

        Map<String, String> found =
                Map.of("prepare", "--ray-address must be local, warm or auto", "dlc", "cannot be divided");
        called.forEach((command, process) -> assertThat(process.endsWith(2).stderr())
                .contains(found.getOrDefault(command, "this is not a prepared job directory"))
                .doesNotContain("Unknown option", "Usage:"));
        helped.forEach((command, process) -> assertThat(process.endsWith(0).stdout())
                .contains(List.of(OPTIONS.get(command).split(" ")).stream()
                        .filter(word -> word.startsWith("--"))
                        .toList()));
        assertThat(helped.get("retry").stdout()).contains("--all-failed");
        assertThat(Sample.names(fleet.folder()))
                .as("what the refused commands left")
                .allMatch(name -> name.startsWith("process-"));
    }

    @Test
    void a_bad_descriptor_is_explained_line_by_line_and_leaves_nothing() {
        Path job = fleet.folder().resolve("job.yaml");
        Sample.write(job, """
                name: bad/name
                engine: command
                comand: [cp, '{input}', '{output}']
                dataset_path: rows.jsonl
                policy:
                  max_retry: 3
                """);
        String root = fleet.folder().resolve("root").toString();
        String dir = fleet.folder().resolve("jobs").resolve("j").toString();

        for (String[] command : new String[][] {
            {"submit", job.toString(), "--root", root},
            {"prepare", job.toString(), "--job-dir", dir},
            {"run", job.toString(), "--job-dir", dir, "--json"}
        }) {
            CaravanProcess refused = fleet.run(command).endsWith(2);
            assertThat(refused.stdout()).isEmpty();
            assertThat(refused.stderr())
                    .contains(
                            job + ":1: name",
                            job + ":3: comand: unknown field; did you mean command?",
                            job + ":6: policy.max_retry: unknown field; did you mean policy.max_retries?")
                    .doesNotContain("\tat ");
        }
        assertThat(Sample.names(fleet.folder())).doesNotContain("root", "jobs");
    }

    @Test
    void bad_settings_are_all_told_at_once_and_nothing_starts() {
        Path file = fleet.folder().resolve("own.yaml");
        Sample.write(file, """
                claim:
                  leese: 8s
                  heartbeat: fast
                node: {slots: 0}
                """);
        fleet.withVariable("CARAVAN_CLAIM_LEES", "8s")
                .with("retry.backof", "1s")
                .with("claim.lease", "3s");
        Path root = fleet.folder().resolve("root");

        CaravanProcess refused = fleet.run("node", "--root", root.toString(), "--once", "--configs", file.toString())
                .endsWith(2);

        assertThat(refused.stderr())
                .contains(
                        file + ":2: claim.leese: unknown key; did you mean claim.lease?",
                        file + ":3: claim.heartbeat",
                        file + ":4: node.slots",
                        "CARAVAN_CLAIM_LEES: unknown setting; did you mean CARAVAN_CLAIM_LEASE?",
                        "-Dcaravan.retry.backof: unknown setting; did you mean -Dcaravan.retry.backoff?")
                .doesNotContain("\tat ");
        assertThat(root).doesNotExist();
    }
}
