package dev.caravan.intake;

import dev.caravan.CaravanException;
import dev.caravan.job.CanonicalDescriptor;
import dev.caravan.job.DescriptorException;
import dev.caravan.job.DescriptorReader;
import dev.caravan.job.JobDescriptor;
import dev.caravan.store.Disk;
import dev.caravan.store.GenerationFiles;
import dev.caravan.store.Layout;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns descriptors that are dropped into the inbox into jobs. What makes a job is its first descriptor, published
 * exclusively, so nodes that race for one file, or die half-way, make one job.
 */
public final class Inbox {
    private static final Logger LOG = LoggerFactory.getLogger(Inbox.class);
    private static final String GENERATION = "inbox-%04d";

    private final Layout.Root root;

    public Inbox(Layout.Root root) {
        this.root = root;
    }

    public static boolean isDescriptor(String fileName) {
        String name = fileName.toLowerCase(Locale.ROOT);
        return !Layout.isHidden(name) && (name.endsWith(".yaml") || name.endsWith(".yml") || name.endsWith(".json"));
    }

    /** How a descriptor was received. */
    public sealed interface Reception {
        record Accepted(JobDescriptor descriptor) implements Reception {}

        /** The same has been asked for before. */
        record AlreadyKnown(JobDescriptor descriptor) implements Reception {}

        record Rejected(String why) implements Reception {}

        /** Another node took the file. */
        record Gone() implements Reception {}
    }

    /** @param file a descriptor in the inbox that nobody writes to any more */
    public Reception receive(String file) throws IOException {
        Path source = Path.of(file);
        Optional<byte[]> content = Disk.readIfPresent(source);
        if (content.isEmpty()) {
            return new Reception.Gone();
        }
        Reception reception = judge(source, content.get());
        if (reception instanceof Reception.Rejected rejected) {
            LOG.error("{} rejected: {}", source.getFileName(), rejected.why());
            Disk.createDirectories(root.rejected());
            Path target = root.rejected().resolve(source.getFileName());
            Disk.replace(root.errorOf(target), (rejected.why() + "\n").getBytes(StandardCharsets.UTF_8));
            moveOut(source, target, content.get());
        } else {
            Disk.createDirectories(root.accepted());
            moveOut(source, root.accepted().resolve(source.getFileName()), content.get());
        }
        return reception;
    }

    private Reception judge(Path source, byte[] content) throws IOException {
        try {
            JobDescriptor descriptor =
                    DescriptorReader.read(content, source.getFileName().toString(), root.path());
            return register(descriptor);
        } catch (DescriptorException e) {
            return new Reception.Rejected(e.getMessage());
        }
    }

    /** Makes the job that the descriptor asks for, unless there is one of its name. */
    Reception register(JobDescriptor descriptor) throws IOException {
        Layout.Job job = root.job(descriptor.name());
        byte[] canonical = CanonicalDescriptor.bytes(descriptor);
        while (true) {
            int number = currentNumber(job);
            if (number > 0) {
                GenerationFiles current = new GenerationFiles(generation(job, number));
                boolean neverPrepared =
                        current.prepareResult().filter(result -> !result.ok()).isPresent();
                if (!neverPrepared) {
                    byte[] asked = current.descriptor().orElseThrow();
                    return Arrays.equals(asked, canonical)
                            ? known(descriptor)
                            : new Reception.Rejected("job " + descriptor.name() + " exists already with other content ("
                                    + generation(job, number).descriptor()
                                    + "): choose another name, or submit the same content again");
                }
            }
            if (new GenerationFiles(generation(job, number + 1)).agreeOn(canonical)) {
                LOG.info("job {} accepted", descriptor.name());
                return new Reception.Accepted(descriptor);
            }
        }
    }

    private static Reception known(JobDescriptor descriptor) {
        LOG.info("job {} is known already, with the same content: nothing to do", descriptor.name());
        return new Reception.AlreadyKnown(descriptor);
    }

    /** The generation that the inbox asked for last; empty for a job that did not come through the inbox. */
    public Optional<Layout.Generation> currentGeneration(Layout.Job job) throws IOException {
        int number = currentNumber(job);
        return number == 0 ? Optional.empty() : Optional.of(generation(job, number));
    }

    private static Layout.Generation generation(Layout.Job job, int number) {
        return job.generation(GENERATION.formatted(number));
    }

    private static int currentNumber(Layout.Job job) {
        int number = 0;
        while (Disk.exists(generation(job, number + 1).descriptor())) {
            number++;
        }
        return number;
    }

    /** Moves a file that was read; if somebody replaced it meanwhile, the new content goes back into the inbox. */
    private void moveOut(Path source, Path target, byte[] read) throws IOException {
        try {
            Disk.rename(source, target);
        } catch (NoSuchFileException anotherNodeDid) {
            return;
        }
        byte[] moved = Disk.read(target);
        if (!Arrays.equals(moved, read)) {
            Disk.publish(source, moved);
        }
    }

    /**
     * Drops a descriptor into the inbox in one step, under the job's name.
     *
     * @return the dropped file
     * @throws StoreException if one of that name waits there with other content
     */
    public Path submit(JobDescriptor descriptor) {
        Path target = root.inbox().resolve(descriptor.name() + ".json");
        try {
            Disk.createDirectories(root.inbox());
            Disk.deleteIfPresent(root.errorOf(root.rejected().resolve(target.getFileName())));
            if (!Disk.publish(target, CanonicalDescriptor.bytes(descriptor))) {
                throw new StoreException(target + " waits in the inbox already with other content: is a node running?");
            }
            return target;
        } catch (IOException e) {
            throw new CaravanException("cannot write " + target + ": " + e.getMessage(), e);
        }
    }
}
