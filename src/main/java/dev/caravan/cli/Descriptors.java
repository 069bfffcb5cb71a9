package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.job.DescriptorReader;
import dev.caravan.job.JobDescriptor;
import dev.caravan.store.Disk;
import java.io.IOException;
import java.nio.file.Path;

/** Reads descriptors that are named on the command line: relative paths in them start at their own folder. */
final class Descriptors {
    private Descriptors() {}

    static JobDescriptor read(Path file) {
        Path absolute = file.toAbsolutePath();
        try {
            return DescriptorReader.read(Disk.read(absolute), file.toString(), absolute.getParent());
        } catch (IOException e) {
            throw new CaravanException("cannot read the job descriptor " + file + ": " + e, e);
        }
    }
}
