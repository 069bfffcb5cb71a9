package dev.caravan.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a claim costs depends neither on the number of shards nor on that of nodes; {@code -Dsim.nodes=1000} shows more. */
@ExtendWith(Quietly.class)
class CostTest {
    private static final int NODES = Integer.getInteger("sim.nodes", 40);

    private static double cost(int nodes, int shards) throws IOException {
        Map<Op, Double> cost = Crowd.costOfAClaim(nodes, shards);
        double all = cost.values().stream().mapToDouble(times -> times).sum();
        System.out.printf("%d nodes, %d shards: %.1f operations for each claim: %s%n", nodes, shards, all, cost);
        return all;
    }

    @Test
    void a_claim_of_many_shards_costs_what_one_of_few_does() throws IOException {
        assertThat(cost(NODES, 40 * NODES)).isLessThan(1.2 * cost(NODES, 10 * NODES));
    }

    /** Both crowds are larger than the number of claims that one poll tries; below it, a smaller crowd costs less. */
    @Test
    void a_claim_among_many_nodes_costs_what_one_among_few_does() throws IOException {
        assertThat(cost(4 * NODES, 40 * NODES)).isLessThan(1.2 * cost(NODES, 10 * NODES));
    }
}
