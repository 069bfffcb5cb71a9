package dev.caravan.cli;

import sun.misc.Signal;

/** INT, as Ctrl-C sends it. */
final class CtrlC {
    private static final int INTERRUPTED = 130;

    private CtrlC() {}

    /** From now on the first one does this, and the second one ends the process. */
    static void first(Runnable action) {
        Signal interrupt = new Signal("INT");
        Signal.handle(interrupt, first -> {
            Signal.handle(interrupt, second -> Runtime.getRuntime().halt(INTERRUPTED));
            System.err.println("caravan: ending; results are kept (Ctrl-C again ends at once)");
            new Thread(action, "ctrl-c").start();
        });
    }
}
