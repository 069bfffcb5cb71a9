package dev.caravan.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.Eventually;
import dev.caravan.shard.GpuDemand;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class SlotsTest {
    private static final GpuDemand ONE = new GpuDemand(1);

    private static Slots slots(int count, int prefetch, String... gpus) {
        return new Slots(count, prefetch, new Gpus(List.of(gpus)));
    }

    private static void take(Slots slots, String token, GpuDemand demand) {
        slots.assign(token, slots.take(demand).orElseThrow());
    }

    private static void takeAhead(Slots slots, String token, GpuDemand demand) {
        slots.assign(token, slots.takeAhead(demand).orElseThrow());
    }

    @Test
    void a_claim_made_ahead_gets_slot_and_devices_of_the_one_that_leaves() {
        Slots slots = slots(1, 1, "0");
        take(slots, "first", ONE);
        assertThat(slots.take(ONE)).isEmpty();
        takeAhead(slots, "next", ONE);
        assertThat(slots.isWaiting("next")).isTrue();
        CompletableFuture<Gpus.Grant> entered = CompletableFuture.supplyAsync(() -> slots.await("next"));

        slots.leave("first");

        assertThat(entered.join().visibleDevices()).isEqualTo("0");
        assertThat(slots.isWaiting("next")).isFalse();
        assertThat(slots.inUse()).isEqualTo(1);
        assertThat(slots.take(ONE)).as("a slot for somebody else").isEmpty();
    }

    @Test
    void no_more_wait_than_may() {
        Slots slots = slots(1, 2);
        assertThat(slots.takeAhead(GpuDemand.NONE)).as("behind an empty slot").isEmpty();
        take(slots, "first", GpuDemand.NONE);
        takeAhead(slots, "second", GpuDemand.NONE);
        takeAhead(slots, "third", GpuDemand.NONE);

        assertThat(slots.takeAhead(GpuDemand.NONE)).isEmpty();
    }

    @Test
    void nobody_waits_behind_a_slot_whose_claim_is_being_made() {
        Slots slots = slots(1, 1);
        Slots.Place place = slots.take(GpuDemand.NONE).orElseThrow();

        assertThat(slots.takeAhead(GpuDemand.NONE)).isEmpty();

        slots.assign("first", place);
        takeAhead(slots, "second", GpuDemand.NONE);
    }

    @Test
    void those_who_wait_enter_in_their_order() {
        Slots slots = slots(1, 2);
        take(slots, "first", GpuDemand.NONE);
        takeAhead(slots, "second", GpuDemand.NONE);
        takeAhead(slots, "third", GpuDemand.NONE);

        slots.leave("first");
        assertThat(List.of(slots.isWaiting("second"), slots.isWaiting("third"))).containsExactly(false, true);
        slots.leave("second");
        assertThat(slots.isWaiting("third")).isFalse();
    }

    @Test
    void nobody_waits_for_more_devices_than_the_first_to_leave_gives_back() {
        Slots slots = slots(2, 1, "0", "1");
        take(slots, "one", ONE);

        assertThat(slots.takeAhead(GpuDemand.ALL)).isEmpty();
        assertThat(slots.takeAhead(GpuDemand.NONE)).isEmpty();
        take(slots, "none", GpuDemand.NONE);
        assertThat(slots.takeAhead(ONE))
                .as("the one without devices may leave first")
                .isEmpty();
    }

    @Test
    void a_slot_without_devices_stays_free_for_a_claim_that_needs_none() {
        Slots slots = slots(2, 1, "0");
        take(slots, "with", ONE);
        takeAhead(slots, "next", ONE);

        take(slots, "without", GpuDemand.NONE);
        slots.leave("without");
        assertThat(slots.isWaiting("next")).isTrue();
        slots.leave("with");
        assertThat(slots.await("next").visibleDevices()).isEqualTo("0");
    }

    @Test
    void a_claim_that_is_given_back_gets_no_slot_and_keeps_nobody_from_one() {
        Slots slots = slots(1, 2, "0");
        take(slots, "first", ONE);
        takeAhead(slots, "second", ONE);
        takeAhead(slots, "third", ONE);
        slots.requireWanted("second");

        slots.giveBack("second", "the job was paused");

        assertThatThrownBy(() -> slots.await("second"))
                .isInstanceOf(GivenBack.class)
                .hasMessage("the job was paused");
        assertThatThrownBy(() -> slots.requireWanted("second")).isInstanceOf(GivenBack.class);
        slots.leave("first");
        assertThat(slots.await("third").visibleDevices()).isEqualTo("0");
        slots.leave("second");
        assertThat(slots.inUse()).isEqualTo(1);
    }

    @Test
    void a_claim_that_is_in_its_slot_is_not_given_back() {
        Slots slots = slots(1, 1);
        take(slots, "first", GpuDemand.NONE);

        slots.giveBack("first", "too late");
        slots.close("the node leaves");

        slots.requireWanted("first");
        assertThat(slots.inUse()).isEqualTo(1);
    }

    @Test
    void once_closed_all_who_wait_are_sent_away_and_nobody_may_wait() throws Exception {
        Slots slots = slots(1, 1);
        take(slots, "first", GpuDemand.NONE);
        takeAhead(slots, "second", GpuDemand.NONE);
        CompletableFuture<Void> room = CompletableFuture.runAsync(() -> {
            try {
                slots.awaitRoom();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });

        slots.close("the node leaves");

        assertThatThrownBy(() -> slots.await("second")).hasMessage("the node leaves");
        Eventually.until("nobody waits for room", room::isDone);
        slots.leave("second");
        assertThat(slots.takeAhead(GpuDemand.NONE)).isEmpty();
    }

    @Test
    void there_is_room_as_soon_as_a_slot_or_a_place_ahead_is_free() throws Exception {
        Slots slots = slots(1, 1);
        slots.awaitRoom();
        take(slots, "first", GpuDemand.NONE);
        slots.awaitRoom();
        takeAhead(slots, "second", GpuDemand.NONE);
        CompletableFuture<Void> room = CompletableFuture.runAsync(() -> {
            try {
                slots.awaitRoom();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });

        slots.leave("first");

        room.join();
        assertThat(slots.isWaiting("second")).isFalse();
    }

    @Test
    void leaving_twice_gives_nobody_a_device_that_is_in_use() {
        Slots slots = slots(2, 0, "0", "1");
        take(slots, "first", ONE);
        slots.leave("first");
        take(slots, "next", ONE);
        slots.leave("first");

        take(slots, "other", ONE);
        assertThat(slots.await("next").visibleDevices()).isEqualTo("0");
        assertThat(slots.await("other").visibleDevices()).isEqualTo("1");
    }
}
