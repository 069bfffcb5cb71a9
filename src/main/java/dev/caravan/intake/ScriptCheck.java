package dev.caravan.intake;

import dev.caravan.shard.Execution;
import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import java.io.IOException;

/** Asks a script what is to be done, and makes no job of it. */
public final class ScriptCheck {
    private ScriptCheck() {}

    /**
     * @param folder for what is written meanwhile
     * @return the counts, JSON
     * @throws dev.caravan.CaravanException if the script cannot be run or plans what cannot be an item
     */
    public static byte[] plan(Scripts scripts, Execution asked, Layout.Job folder) throws IOException {
        Execution execution = ScriptInput.checked(scripts, asked);
        new ScriptInput(scripts, execution).write(folder, () -> {});
        return Disk.read(folder.planCounts());
    }
}
