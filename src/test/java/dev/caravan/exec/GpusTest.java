package dev.caravan.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.Eventually;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GpusTest {
    private static final List<String> FOUR = List.of("0", "1", "2", "3");

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
                "GPU-8932f937-d72c,1; GPU-8932f937-d72c,1",
                "MIG-GPU-1/3/0; MIG-GPU-1/3/0",
                "GPU-; ''"
            })
    void the_visible_list_ends_at_the_first_entry_that_names_no_device(String list, String expected) {
        assertThat(String.join(",", Gpus.visible(list, FOUR))).isEqualTo(expected);
    }

    @Test
    void pretended_devices_are_numbered_whatever_is_visible() {
        assertThat(Gpus.find(3, Map.of("CUDA_VISIBLE_DEVICES", "-1")).count()).isEqualTo(3);
    }

    @Test
    void a_node_whose_devices_are_hidden_has_none() {
        assertThat(Gpus.find(0, Map.of("CUDA_VISIBLE_DEVICES", "")).count()).isZero();
    }

    @Test
    void devices_are_taken_in_order_and_taken_again_once_given_back() throws InterruptedException {
        Gpus gpus = new Gpus(List.of("4", "7", "GPU-x"));
        Gpus.Grant first = gpus.take(1);
        Gpus.Grant second = gpus.take(2);
        assertThat(first.visibleDevices()).isEqualTo("4");
        assertThat(second.visibleDevices()).isEqualTo("7,GPU-x");
        assertThat(second.count()).isEqualTo(2);

        first.close();
        assertThat(gpus.take(1).visibleDevices()).isEqualTo("4");
    }

    @Test
    void a_fraction_takes_a_whole_device_and_nothing_takes_none() throws InterruptedException {
        Gpus gpus = new Gpus(FOUR);

        assertThat(gpus.take(0).visibleDevices()).isEmpty();
        assertThat(gpus.take(0.25).visibleDevices()).isEqualTo("0");
        assertThat(gpus.take(1.5).visibleDevices()).isEqualTo("1,2");
    }

    @Test
    void more_than_there_are_is_refused_at_once() {
        assertThatThrownBy(() -> new Gpus(List.of("0")).take(1.5))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the shard asks for 2 GPUs, this node has 1: [0]");
    }

    @Test
    void who_finds_too_few_free_waits_until_enough_are_given_back() throws Exception {
        Gpus gpus = new Gpus(List.of("0", "1"));
        Gpus.Grant zero = gpus.take(1);
        Gpus.Grant one = gpus.take(1);
        FutureTask<String> waiting = new FutureTask<>(() -> gpus.take(2).visibleDevices());
        Thread thread = new Thread(waiting);
        thread.start();
        Eventually.until("it waits", () -> thread.getState() == Thread.State.WAITING);
        one.close();
        Eventually.until("it waits on", () -> thread.getState() == Thread.State.WAITING);
        assertThat(waiting.isDone()).isFalse();
        zero.close();

        assertThat(waiting.get(30, TimeUnit.SECONDS)).isEqualTo("0,1");
    }

    @Test
    void giving_back_twice_gives_nobody_a_device_that_is_in_use() throws InterruptedException {
        Gpus gpus = new Gpus(List.of("0", "1"));
        Gpus.Grant grant = gpus.take(1);
        grant.close();
        Gpus.Grant next = gpus.take(1);
        grant.close();

        assertThat(next.visibleDevices()).isEqualTo("0");
        assertThat(gpus.take(1).visibleDevices()).isEqualTo("1");
    }
}
