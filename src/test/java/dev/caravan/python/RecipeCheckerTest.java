package dev.caravan.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecipeCheckerTest {
    @TempDir
    Path folder;

    private StandInPython programs;
    private Path recipe;
    private Path custom;

    @BeforeEach
    void a_recipe_with_a_custom_operator() throws IOException {
        programs = new StandInPython(folder.resolve("bin"));
        custom = Files.writeString(folder.resolve("my_ops.py"), "# first");
        recipe = Files.writeString(
                folder.resolve("recipe.yaml"), "custom_operator_paths: [my_ops.py]\nprocess:\n  - a_mapper: {}\n");
    }

    private RecipeCheck check(String codeVersion) throws IOException {
        Path python = programs.thatAnswers(codeVersion);
        return new RecipeChecker(PythonEnvironment.of(python.toString(), folder.resolve("cache"))).check(recipe);
    }

    @Test
    void the_answer_is_understood() throws IOException {
        RecipeCheck check = check("1.6.1");

        assertThat(check.ok()).isTrue();
        assertThat(check.operators()).containsExactly(new RecipeCheck.Operator("a_mapper", "mapper", 0.5));
        assertThat(check.mostGpus()).isEqualTo(0.5);
        assertThat(check.warnings()).containsExactly("mind");
        assertThat(check.mediaKeys()).containsEntry("image", "images");
        assertThat(check.indexKeys()).containsExactly("row");
        assertThat(check.datasetPath()).isNull();
        assertThat(check.needsGpu()).isTrue();
        assertThat(check.codeVersion()).isEqualTo("1.6.1");
    }

    @Test
    void python_is_asked_again_only_when_something_has_changed() throws IOException {
        RecipeCheck first = check("1.6.1");
        assertThat(check("1.6.1")).isEqualTo(first);
        assertThat(programs.journal()).hasSize(1);

        Files.writeString(custom, "# second");
        check("1.6.1");
        assertThat(programs.journal()).as("another custom operator").hasSize(2);

        Files.writeString(recipe, "process:\n  - a_mapper: {}\n");
        check("1.6.1");
        assertThat(programs.journal()).as("another recipe").hasSize(3);

        check("1.6.2");
        assertThat(programs.journal()).as("other Data-Juicer code").hasSize(4);
    }

    @Test
    void a_spoilt_answer_in_the_cache_is_asked_for_again() throws IOException {
        check("1.6.1");
        try (var kept = Files.list(folder.resolve("cache").resolve("recipes"))) {
            for (Path file : kept.toList()) {
                Files.writeString(file, "{\"ok\": tr");
            }
        }

        assertThat(check("1.6.1").ok()).isTrue();
        assertThat(programs.journal()).hasSize(2);
    }
}
