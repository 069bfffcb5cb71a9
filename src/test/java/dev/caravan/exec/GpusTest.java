package dev.caravan.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.GpuDemand;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GpusTest {
    private static final List<NvidiaSmi.Device> FOUR = IntStream.range(0, 4)
            .mapToObj(i -> new NvidiaSmi.Device("" + i, "GPU-" + i + "932f937-d72c", List.of()))
            .toList();

    /** What nvidia-smi -L prints where one of two GPUs is divided. */
    private static final String DIVIDED = """
            GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)
              MIG 3g.20gb     Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)
              MIG 1g.5gb      Device  1: (UUID: MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb)
            GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-b5f4b8ae-9d2b-c4f1-8d4f-0c0c8b0f6b55)
            """;

    private static GpuDemand of(double devices) {
        return new GpuDemand(devices);
    }

    private static String taken(Gpus gpus, GpuDemand demand) {
        return gpus.take(demand).orElseThrow().visibleDevices();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            emptyValue = "",
            value = {
                "0,1,2,3,0; 0,1,2,3",
                "0,1,0,2; 0,1",
                "-1; ''",
                "''; ''",
                "0, 1; 0,1",
                "3,1; 3,1",
                "0,9,1; 0",
                "9,0; ''",
                "0,-1,1; 0",
                "none; ''",
                "0,,1; 0",
                "GPU-1932f937-d72c,1; GPU-1932f937-d72c,1",
                "GPU-1932,0; GPU-1932,0",
                "GPU-8932f937-d72c,1; ''",
                "MIG-GPU-1932f937-d72c/3/0; MIG-GPU-1932f937-d72c/3/0",
                "GPU-; ''"
            })
    void the_visible_list_ends_at_the_first_entry_that_names_no_device(String list, String expected) {
        assertThat(String.join(",", Gpus.visible(list, FOUR))).isEqualTo(expected);
    }

    @Test
    void a_divided_gpu_is_as_many_devices_as_it_has_parts() {
        List<NvidiaSmi.Device> devices = NvidiaSmi.parse(DIVIDED);

        assertThat(devices).extracting(NvidiaSmi.Device::index).containsExactly("0", "1");
        assertThat(devices.get(0).names())
                .containsExactly(
                        "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f", "MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb");
        assertThat(devices.get(1).names()).containsExactly("1");
        assertThat(Gpus.visible("MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb,1", devices))
                .hasSize(2);
    }

    @ParameterizedTest
    @CsvSource({"'No devices were found'", "'Failed to initialize NVML: Driver/library version mismatch'", "''"})
    void what_lists_no_device_is_none(String said) {
        assertThat(NvidiaSmi.parse(said)).isEmpty();
    }

    @Test
    void uuids_are_believed_where_nobody_knows_better() {
        assertThat(Gpus.visible("MIG-c6d4f1ef,GPU-1,0", List.of())).containsExactly("MIG-c6d4f1ef", "GPU-1");
    }

    @Test
    void pretended_devices_are_numbered_whatever_is_visible() {
        assertThat(Gpus.find(3, "", Map.of("CUDA_VISIBLE_DEVICES", "-1")).names())
                .containsExactly("0", "1", "2");
    }

    @Test
    void a_node_whose_devices_are_hidden_has_none() {
        assertThat(Gpus.find(0, "", Map.of("CUDA_VISIBLE_DEVICES", "")).names()).isEmpty();
    }

    @Test
    void devices_are_taken_in_order_and_taken_again_once_given_back() {
        Gpus gpus = new Gpus(List.of("4", "7", "GPU-x"));
        Gpus.Grant first = gpus.take(of(1)).orElseThrow();
        Gpus.Grant second = gpus.take(of(2)).orElseThrow();
        assertThat(first.visibleDevices()).isEqualTo("4");
        assertThat(second.visibleDevices()).isEqualTo("7,GPU-x");
        assertThat(second.count()).isEqualTo(2);
        assertThat(gpus.take(of(1))).isEmpty();

        gpus.giveBack(first);
        assertThat(taken(gpus, of(1))).isEqualTo("4");
    }

    @Test
    void shares_of_a_device_fill_it_before_the_next_is_begun() {
        Gpus gpus = new Gpus(List.of("0", "1"));
        Gpus.Grant half = gpus.take(of(0.5)).orElseThrow();
        assertThat(half.visibleDevices()).isEqualTo("0");
        assertThat(half.count()).isEqualTo(1);
        assertThat(taken(gpus, of(0.75))).isEqualTo("1");
        assertThat(taken(gpus, of(0.25))).isEqualTo("1");
        assertThat(taken(gpus, of(0.3))).isEqualTo("0");
        assertThat(gpus.take(of(0.5))).as("more than is left of any").isEmpty();
        assertThat(gpus.take(of(1))).as("a whole one").isEmpty();

        gpus.giveBack(half);
        assertThat(taken(gpus, of(0.7))).isEqualTo("0");
    }

    @Test
    void thirds_of_a_device_are_three() {
        Gpus gpus = new Gpus(List.of("0"));

        assertThat(IntStream.range(0, 4)
                        .mapToObj(i -> gpus.take(of(1 / 3.0)).isPresent())
                        .toList())
                .containsExactly(true, true, true, false);
    }

    @Test
    void more_than_one_is_rounded_up_to_whole_devices_and_nothing_takes_none() {
        Gpus gpus = new Gpus(List.of("0", "1", "2"));

        assertThat(taken(gpus, GpuDemand.NONE)).isEmpty();
        assertThat(taken(gpus, of(1.5))).isEqualTo("0,1");
        assertThat(taken(gpus, of(1))).isEqualTo("2");
        assertThat(taken(gpus, GpuDemand.NONE)).isEmpty();
    }

    @Test
    void all_devices_are_for_one_shard_and_only_when_nobody_has_any() {
        Gpus gpus = new Gpus(List.of("0", "1", "2"));
        Gpus.Grant share = gpus.take(of(0.1)).orElseThrow();
        assertThat(gpus.take(GpuDemand.ALL)).isEmpty();
        gpus.giveBack(share);

        Gpus.Grant all = gpus.take(GpuDemand.ALL).orElseThrow();

        assertThat(all.visibleDevices()).isEqualTo("0,1,2");
        assertThat(all.count()).isEqualTo(3);
        assertThat(gpus.take(of(0.1))).isEmpty();
        assertThat(new Gpus(List.of()).take(GpuDemand.ALL)).as("all of none").isEmpty();
    }

    @Test
    void more_than_there_are_is_never_granted() {
        assertThat(new Gpus(List.of("0")).take(of(1.5))).isEmpty();
    }
}
