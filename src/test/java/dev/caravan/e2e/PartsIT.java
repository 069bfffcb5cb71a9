package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.jsonl.Sha256;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs whose output is a folder of parts, from the input to the index. */
class PartsIT {
    @RegisterExtension
    final Fleet fleet = new Fleet();

    /** The bytes of all parts in the order of the index, each with the checksum that the index has. */
    private static String parts(Layout.Job job) throws IOException {
        Path folder = job.path().resolve("merged");
        JsonNode index = Json.tree(Files.readAllBytes(folder.resolve("index.json")));
        StringBuilder all = new StringBuilder();
        for (JsonNode part : index.path("parts")) {
            String text = Sample.read(folder.resolve(part.path("name").asText()));
            assertThat(part.path("sha256").asText()).isEqualTo(sha256(text));
            all.append(text);
        }
        assertThat(index.path("sha256").asText()).isEqualTo(sha256(all.toString()));
        return all.toString();
    }

    private static String sha256(String text) {
        return Sha256.hex(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void two_nodes_leave_the_bytes_of_the_merged_file_in_parts_and_so_does_the_repaired_job() throws IOException {
        Sample job = new Sample(fleet.folder(), "parts", 40, 4)
                .written("", "output: {form: parts}", "policy: {on_bad_record: quarantine}");
        String rows = Sample.read(job.input());
        int middle = rows.indexOf('\n', rows.length() / 2) + 1;
        Sample.write(job.input(), rows.substring(0, middle) + "bad\n" + rows.substring(middle));
        Layout.Job repaired = new Layout.Job(fleet.folder().resolve("jobs/repaired"));
        String row = "{\"id\":-1,\"colour\":\"red\"}\n";
        Sample.write(fleet.folder().resolve("repaired.txt"), row);

        CaravanProcess first = fleet.start("run", job.descriptor().toString(), "--job-dir", job.jobDir());
        CaravanProcess second = fleet.start("run", job.descriptor().toString(), "--job-dir", job.jobDir());

        String folder = job.inOwnDirectory().path().resolve("merged").toString();
        assertThat(first.endsWith(0).stdout()).contains("output  " + folder + "\n");
        assertThat(second.endsWith(0).stdout()).contains("output  " + folder + "\n");
        assertThat(parts(job.inOwnDirectory())).isEqualTo(rows.replace("red", "blue"));
        assertThat(Sample.read(job.inOwnDirectory().report())).contains(folder);
        assertThat(fleet.run("verify", "--job-dir", job.jobDir()).endsWith(0).stdout())
                .contains(folder + ": 40 rows");

        fleet.run(
                        "rerun",
                        "--quarantined",
                        "--job-dir",
                        job.jobDir(),
                        "--new-job-dir",
                        repaired.path().toString(),
                        "--repaired",
                        fleet.folder().resolve("repaired.txt").toString())
                .endsWith(0);
        fleet.run("worker", "--job-dir", repaired.path().toString()).endsWith(0);
        fleet.run("merge", "--job-dir", repaired.path().toString()).endsWith(0);

        assertThat(parts(repaired))
                .isEqualTo((rows.substring(0, middle) + row + rows.substring(middle)).replace("red", "blue"));
        fleet.run("verify", "--job-dir", repaired.path().toString()).endsWith(0);
    }
}
