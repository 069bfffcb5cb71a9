package dev.caravan.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.CaravanException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RouteSourcesTest {
    @TempDir
    Path folder;

    private List<String> sources(String own) {
        return List.of(RouteSources.pattern(own, false).split(","));
    }

    private static List<String> packaged() {
        return RouteSources.PACKAGED.stream()
                .map(name -> "classpath:routes/" + name)
                .toList();
    }

    @Test
    void without_a_folder_the_packaged_routes_are_used_and_all_of_them_exist() {
        assertThat(sources("")).isEqualTo(packaged());
        assertThat(RouteSources.PACKAGED)
                .allSatisfy(name ->
                        assertThat(getClass().getResource("/routes/" + name)).isNotNull());
    }

    @Test
    void an_empty_folder_changes_nothing() {
        assertThat(sources(folder.toString())).isEqualTo(packaged());
    }

    @Test
    void a_file_of_ones_own_replaces_the_packaged_route_of_its_name() throws IOException {
        Path own = Files.createFile(folder.resolve("exec.camel.yaml"));

        assertThat(sources(folder.toString()))
                .hasSameSizeAs(packaged())
                .contains("file:" + own)
                .doesNotContain("classpath:routes/exec.camel.yaml")
                .contains("classpath:routes/claim.camel.yaml");
    }

    @Test
    void other_route_files_are_added_and_all_else_is_left_alone() throws IOException {
        Path own = Files.createFile(folder.resolve("notify.camel.yaml"));
        Files.createFile(folder.resolve("README.md"));
        Files.createFile(folder.resolve("caravan.yaml"));
        List<String> sources = sources(folder.toString());

        assertThat(sources)
                .containsAll(packaged())
                .contains("file:" + own)
                .hasSize(packaged().size() + 1);
    }

    @Test
    void the_routes_of_the_http_server_are_there_only_where_it_runs() throws IOException {
        assertThat(List.of(RouteSources.pattern("", true).split(",")))
                .containsAll(packaged())
                .contains("classpath:routes/http.camel.yaml");
        assertThat(getClass().getResource("/routes/" + RouteSources.HTTP)).isNotNull();
        Path own = Files.createFile(folder.resolve(RouteSources.HTTP));
        assertThat(sources(folder.toString())).isEqualTo(packaged());
        assertThat(List.of(RouteSources.pattern(folder.toString(), true).split(",")))
                .contains("file:" + own)
                .doesNotContain("classpath:routes/http.camel.yaml");
    }

    @Test
    void a_missing_folder_is_refused() {
        Path missing = folder.resolve("missing");

        assertThatThrownBy(() -> RouteSources.pattern(missing.toString(), false))
                .isInstanceOf(CaravanException.class)
                .hasMessage("node.routes: no such folder: " + missing);
    }

    @Test
    void a_file_in_place_of_the_folder_is_refused() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));

        assertThatThrownBy(() -> RouteSources.pattern(file.toString(), false)).isInstanceOf(CaravanException.class);
    }
}
