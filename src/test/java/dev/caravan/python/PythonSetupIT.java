package dev.caravan.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The real thing: needs a Python, the network or a mirror, and 2 GB of disk. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class PythonSetupIT {
    @Test
    void the_environment_is_made_from_the_lock_and_knows_the_samples(@TempDir Path cache) {
        List<String> said = new ArrayList<>();
        PythonEnvironment environment = PythonEnvironment.of("", cache);

        PythonInfo info = environment.setup(said::add);

        assertThat(info.dataJuicer()).isEqualTo("1.6.1");
        assertThat(info.ray()).isEqualTo("2.60.0");
        assertThat(info.codeVersion()).isEqualTo("1.6.1");
        assertThat(Path.of(info.executable())).startsWith(cache);
        assertThat(said).anyMatch(line -> line.startsWith("Python environment ready after"));
        said.forEach(System.out::println);

        said.clear();
        assertThat(PythonEnvironment.of("", cache).setup(said::add)).isEqualTo(info);
        assertThat(said).as("there already").isEmpty();

        RecipeChecker checker = new RecipeChecker(environment);
        RecipeCheck quickstart = checker.check(Path.of("samples/quickstart/recipe.yaml"));
        assertThat(quickstart.problems()).isEmpty();
        assertThat(quickstart.warnings()).isEmpty();
        assertThat(quickstart.operators())
                .extracting(RecipeCheck.Operator::name)
                .containsExactly("whitespace_normalization_mapper", "text_length_filter");
        for (String sample : List.of("recipe-1gpu.yaml", "recipe-4gpu.yaml")) {
            RecipeCheck gpu = checker.check(Path.of("samples/gpu").resolve(sample));
            assertThat(gpu.problems()).isEmpty();
            assertThat(gpu.needsGpu()).isTrue();
            assertThat(gpu.mostGpus()).isEqualTo(1);
        }
    }
}
