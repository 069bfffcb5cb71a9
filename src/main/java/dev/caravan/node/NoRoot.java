package dev.caravan.node;

/** Stands in for the beans of a shared root on a node without one: Camel looks for the methods even of routes that never start. */
public final class NoRoot {
    public void receive(String file) {
        throw new IllegalStateException("no inbox on this node: " + file);
    }

    public void report() {
        throw new IllegalStateException("no shared root on this node");
    }
}
