package dev.caravan.node;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sun.misc.Signal;

/** USR1, by which schedulers announce that time is up. TERM and INT are Camel's own. */
final class LeaveSignal {
    private static final Logger LOG = LoggerFactory.getLogger(LeaveSignal.class);

    private LeaveSignal() {}

    static void onUsr1(Runnable leave) {
        try {
            Signal.handle(new Signal("USR1"), signal -> leave.run());
        } catch (IllegalArgumentException taken) {
            LOG.debug("this Java keeps USR1 for itself", taken);
        }
    }
}
