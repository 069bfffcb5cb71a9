package dev.caravan.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** Read by the types that are made from the schema of Kubernetes. */
class KubernetesTemplateTest {
    private static final Path TEMPLATE = Path.of("configs/schedulers/kubernetes-job.yaml");

    /** The types keep members that they do not know; here those are mistakes. */
    private static final JsonMapper STRICT = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .annotationIntrospector(new JacksonAnnotationIntrospector() {
                @Override
                public Boolean hasAnySetter(Annotated member) {
                    return false;
                }
            })
            .build();

    private static Job job(String yaml) {
        Object document = new Yaml().load(yaml);
        return STRICT.convertValue(document, Job.class);
    }

    @Test
    void the_template_is_an_indexed_job_whose_pods_are_one_run() throws IOException {
        Job job = job(Files.readString(TEMPLATE));

        assertThat(job.getApiVersion()).isEqualTo("batch/v1");
        assertThat(job.getKind()).isEqualTo("Job");
        JobSpec spec = job.getSpec();
        assertThat(spec.getCompletionMode()).isEqualTo("Indexed");
        assertThat(spec.getParallelism()).as("all nodes at once").isEqualTo(spec.getCompletions());
        assertThat(spec.getTemplate().getSpec().getRestartPolicy())
                .as("what a pod failure policy needs")
                .isEqualTo("Never");
        assertThat(spec.getPodFailurePolicy().getRules()).extracting("action").containsExactly("FailJob", "Ignore");
        Container container = spec.getTemplate().getSpec().getContainers().get(0);
        assertThat(container.getName())
                .isEqualTo(spec.getPodFailurePolicy()
                        .getRules()
                        .get(0)
                        .getOnExitCodes()
                        .getContainerName());
        assertThat(container.getCommand()).startsWith("/opt/caravan/bin/caravan", "run");
        assertThat(container.getEnv()).singleElement().satisfies(variable -> {
            assertThat(RunId.VARIABLES).contains(variable.getName());
            assertThat(variable.getValueFrom().getFieldRef().getFieldPath())
                    .isEqualTo("metadata.labels['batch.kubernetes.io/controller-uid']");
        });
        assertThat(container.getVolumeMounts())
                .extracting("name")
                .containsExactlyElementsOf(spec.getTemplate().getSpec().getVolumes().stream()
                        .map(volume -> volume.getName())
                        .toList());
    }

    @Test
    void a_member_that_kubernetes_does_not_know_is_found() throws IOException {
        String misspelt = Files.readString(TEMPLATE).replace("mountPath: /dev/shm", "mountpath: /dev/shm");

        assertThatThrownBy(() -> job(misspelt)).hasMessageContaining("mountpath");
    }
}
