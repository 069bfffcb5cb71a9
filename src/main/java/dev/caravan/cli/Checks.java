package dev.caravan.cli;

import dev.caravan.doctor.StartCheck;
import dev.caravan.settings.Settings;
import dev.caravan.store.Layout;
import dev.caravan.store.Probe;

/** What {@code node}, {@code run} and {@code worker} check before they start. */
final class Checks {
    private Checks() {}

    static void root(Layout.Root root, Settings settings) {
        check(settings).root(root);
    }

    static void job(Layout.Job job, Settings settings) {
        check(settings).job(job);
    }

    private static StartCheck check(Settings settings) {
        return new StartCheck(new Probe(), settings.duration("claim.lease"));
    }
}
