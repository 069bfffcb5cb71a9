package dev.caravan.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NodeWorkTest {
    @Test
    void jobs_of_the_same_priority_come_in_turn_and_never_before_a_greater_one() {
        List<String> jobs = List.of("9 a", "5 b", "5 c", "5 d", "0 e", "0 f");

        assertThat(List.of(inTurn(jobs, 0), inTurn(jobs, 1), inTurn(jobs, 2), inTurn(jobs, 3)))
                .containsExactly(
                        List.of("9 a", "5 b", "5 c", "5 d", "0 e", "0 f"),
                        List.of("9 a", "5 c", "5 d", "5 b", "0 f", "0 e"),
                        List.of("9 a", "5 d", "5 b", "5 c", "0 e", "0 f"),
                        List.of("9 a", "5 b", "5 c", "5 d", "0 f", "0 e"));
        assertThat(inTurn(List.of(), 5)).isEmpty();
    }

    private static List<String> inTurn(List<String> jobs, int start) {
        return NodeWork.inTurn(jobs, job -> job.charAt(0), start);
    }
}
