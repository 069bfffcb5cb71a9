package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(20)
class InputFilesTest {
    @TempDir
    Path folder;

    private Path in;

    @BeforeEach
    void setUp() throws IOException {
        in = Files.createDirectory(folder.toRealPath().resolve("[D] set? *"));
    }

    @Test
    void takes_jsonl_and_ndjson_of_all_folders_in_the_order_of_their_path_bytes() throws IOException {
        List<String> ordered = List.of(
                "B.jsonl",
                "a b.jsonl",
                "a*b.jsonl",
                "a-1.jsonl",
                "a/10.jsonl",
                "a/9.jsonl",
                "a/c/x.jsonl",
                "a0.jsonl",
                "b.JSONL",
                "c.NdJson",
                "c.ndjson.gz",
                "d.jsonl/part.jsonl",
                "x.jsonl",
                "x.jsonl.GZ",
                "x.jsonl.zst",
                "x.v1.2.jsonl",
                "\u00e9.jsonl",
                "\uFF5E.jsonl",
                "\uD83D\uDE00.jsonl");
        for (String name : ordered.stream().sorted((a, b) -> b.compareTo(a)).toList()) {
            touch(name);
        }

        InputFiles found = InputFiles.find(in);

        assertThat(found.files())
                .extracting(file -> in.relativize(file).toString())
                .isEqualTo(ordered);
        assertThat(found.skipped()).isEmpty();
        assertThat(found.root()).isEqualTo(in);
    }

    @Test
    void skips_and_names_hidden_files_and_other_suffixes() throws IOException {
        touch("x.jsonl");
        for (String name :
                List.of("._x.jsonl", ".DS_Store", ".git/y.jsonl", "x.json", "xjsonl", "x.jsonl.bak", "s/.h.jsonl")) {
            touch(name);
        }
        touch("bad\nname.txt");

        InputFiles found = InputFiles.find(in);

        assertThat(found.files()).containsExactly(in.resolve("x.jsonl"));
        assertThat(found.skipped())
                .containsExactly(
                        "skipped in the input folder (4 hidden): .DS_Store, ._x.jsonl, .git, s/.h.jsonl",
                        "skipped in the input folder (4 not .jsonl, .ndjson, or that and .gz or .zst): bad\\x0aname.txt, x.json, x.jsonl.bak, xjsonl");
    }

    @Test
    void a_long_list_of_skipped_files_is_cut() throws IOException {
        touch("x.jsonl");
        for (int k = 10; k < 35; k++) {
            touch("f" + k + ".txt");
        }

        assertThat(InputFiles.find(in).skipped())
                .singleElement()
                .asString()
                .startsWith("skipped in the input folder (25 not .jsonl, .ndjson, or that and .gz or .zst): f10.txt, ")
                .endsWith(", f19.txt and 15 more");
    }

    @Test
    void a_single_file_is_taken_with_its_folder_as_root() throws IOException {
        Path file = touch("a*b [1].jsonl");
        touch("other.jsonl");

        InputFiles found = InputFiles.find(file);

        assertThat(found).isEqualTo(new InputFiles(in, List.of(file), List.of()));
    }

    @Test
    void links_that_lead_in_circles_end_and_each_real_file_is_read_once() throws IOException {
        touch("a/x.jsonl");
        Files.createSymbolicLink(in.resolve("a/up"), Path.of("..").resolve("..").resolve(in.getFileName()));
        Files.createSymbolicLink(in.resolve("0-same.jsonl"), Path.of("a/x.jsonl"));
        Files.createSymbolicLink(in.resolve("0-same-folder"), Path.of("a"));

        InputFiles found = InputFiles.find(in);

        assertThat(found.files()).containsExactly(in.resolve("a/x.jsonl"));
        assertThat(found.skipped())
                .containsExactly(
                        "skipped in the input folder (3 linked to what is read already): 0-same-folder, 0-same.jsonl, a/up");
    }

    @Test
    void links_to_files_and_folders_outside_are_followed_once() throws IOException {
        Path outside = Files.createDirectories(folder.toRealPath().resolve("outside/deep"))
                .getParent();
        Files.writeString(outside.resolve("y.jsonl"), "");
        Files.writeString(outside.resolve("deep/z.jsonl"), "");
        Files.createSymbolicLink(outside.resolve("deep/back"), in);
        touch("x.jsonl");
        Files.createSymbolicLink(in.resolve("b"), outside);
        Files.createSymbolicLink(in.resolve("a.jsonl"), outside.resolve("y.jsonl"));

        assertThat(InputFiles.find(in).files())
                .extracting(file -> in.relativize(file).toString())
                .containsExactly("a.jsonl", "b/deep/z.jsonl", "x.jsonl");
    }

    @Test
    void a_link_to_nothing_is_refused_if_it_looks_like_input_and_skipped_otherwise() throws IOException {
        touch("x.jsonl");
        Files.createSymbolicLink(in.resolve("gone.txt"), Path.of("nowhere"));
        assertThat(InputFiles.find(in).skipped())
                .containsExactly("skipped in the input folder (1 linked to nothing): gone.txt");

        Files.createSymbolicLink(in.resolve("gone.jsonl"), Path.of("nowhere"));
        assertThatThrownBy(() -> InputFiles.find(in))
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining("are links to nothing: gone.jsonl");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\nb.jsonl", "a\rb.jsonl", "d\u0001/x.jsonl", "a\u0085.jsonl"})
    void a_name_with_control_characters_is_refused_by_name(String name) throws IOException {
        touch("a.jsonl");
        touch(name);

        assertThatThrownBy(() -> InputFiles.find(in))
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining(NameList.printable(name))
                .hasMessageContaining("Rename them")
                .message()
                .doesNotContain("\n", "\r");
    }

    @ParameterizedTest
    @ValueSource(strings = {"p.jsonl.gzip", "p.JSONL.ZSTD", "p.ndjson.bz2", "s/p.jsonl.xz"})
    void input_compressed_otherwise_is_refused_in_a_folder_and_alone(String name) throws IOException {
        touch("a.jsonl");
        Path file = touch(name);

        assertThatThrownBy(() -> InputFiles.find(in))
                .isInstanceOf(IntakeException.class)
                .hasMessage("compressed input other than .gz and .zst is not supported: " + name
                        + ". Unpack these files to .jsonl, compress them as .jsonl.gz or .jsonl.zst, or move them out"
                        + " of the input folder");
        assertThatThrownBy(() -> InputFiles.find(file))
                .hasMessageContaining("compressed input other than .gz and .zst is not supported: " + file);
    }

    @Test
    void a_folder_without_input_is_an_error_that_says_what_is_there() throws IOException {
        assertThatThrownBy(() -> InputFiles.find(in))
                .isInstanceOf(IntakeException.class)
                .hasMessage("no input in folder " + in
                        + ": expected at least one file that ends in .jsonl or .ndjson, or that and .gz or .zst;"
                        + " found nothing at all");

        touch("x.json");
        assertThatThrownBy(() -> InputFiles.find(in))
                .hasMessageEndingWith("(1 not .jsonl, .ndjson, or that and .gz or .zst): x.json");
    }

    @Test
    void a_path_that_is_not_there_or_of_another_kind_is_refused() throws IOException {
        Path json = touch("x.json");

        assertThatThrownBy(() -> InputFiles.find(in.resolve("no.jsonl")))
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining("does not exist on this node");
        assertThatThrownBy(() -> InputFiles.find(json))
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining("is neither a folder nor a file that ends in .jsonl or .ndjson");
    }

    private Path touch(String relative) throws IOException {
        Path file = in.resolve(relative);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, "{}\n");
    }
}
