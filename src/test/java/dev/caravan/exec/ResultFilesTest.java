package dev.caravan.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.FailureClass;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultFilesTest {
    @TempDir
    Path folder;

    private Path result;
    private Path processed;

    @BeforeEach
    void names() throws IOException {
        result = folder.resolve("result");
        processed = Files.createDirectory(folder.resolve("attempt")).resolve("processed.jsonl");
    }

    private void part(String name, String content) throws IOException {
        Files.createDirectories(result);
        Files.writeString(result.resolve(name), content);
    }

    private void assertNothingWasMade() throws IOException {
        try (Stream<Path> files = Files.list(processed.getParent())) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void files_of_a_folder_are_put_together_in_the_order_of_their_names() throws IOException {
        part("b_000002.json", "{\"n\":3}\n{\"n\":4}");
        part("b_000010.json", "{\"n\":5}\n");
        part("b_000001.jsonl", "{\"n\":1}\n{\"n\":2}\n");
        part("a_notes.txt", "no result");
        part(".b_000001.json.crc", "no result");

        ResultFiles.Result made = ResultFiles.assemble(result, processed);
        String expected = "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n{\"n\":5}\n";
        assertThat(processed).hasContent(expected);
        assertThat(made.sources()).containsExactly("b_000001.jsonl", "b_000002.json", "b_000010.json");
        assertThat(made.tally().rows()).isEqualTo(5);
        assertThat(made.tally().bytes()).isEqualTo(expected.length());
        assertThat(made.tally().sha256()).isEqualTo(Sha256.hex(expected.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void a_single_file_is_a_result() throws IOException {
        Files.writeString(result, "{\"n\":1}\n");

        assertThat(ResultFiles.assemble(result, processed).sources()).containsExactly("result");
        assertThat(processed).hasContent("{\"n\":1}\n");
    }

    @Test
    void an_empty_folder_is_a_result_without_records() throws IOException {
        Files.createDirectories(result);

        ResultFiles.Result made = ResultFiles.assemble(result, processed);
        assertThat(made.tally().rows()).isZero();
        assertThat(made.sources()).isEmpty();
        assertThat(processed).isEmptyFile();
    }

    @Test
    void a_missing_result_is_the_engines_failure() throws IOException {
        assertThatThrownBy(() -> ResultFiles.assemble(result, processed))
                .hasMessage("the engine ended with 0 but did not create " + result)
                .asInstanceOf(InstanceOfAssertFactories.type(AttemptFailed.class))
                .extracting(AttemptFailed::failureClass)
                .isEqualTo(FailureClass.DATA);
        assertNothingWasMade();
    }

    @Test
    void a_line_that_is_no_record_is_told_with_its_file_and_place() throws IOException {
        part("b_000001.json", "{\"n\":1}\n");
        part("b_000002.json", "{\"n\":2}\n{\"n\":\n");

        assertThatThrownBy(() -> ResultFiles.assemble(result, processed))
                .hasMessageContaining("the result is not JSON Lines: ")
                .hasMessageContaining(result.resolve("b_000002.json").toString())
                .hasMessageContaining("2")
                .asInstanceOf(InstanceOfAssertFactories.type(AttemptFailed.class))
                .extracting(AttemptFailed::failureClass)
                .isEqualTo(FailureClass.DATA);
        assertNothingWasMade();
    }
}
