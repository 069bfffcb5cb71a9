package dev.caravan.exec;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks NVIDIA's tool for the GPUs of this machine. */
final class NvidiaSmi {
    private static final Logger LOG = LoggerFactory.getLogger(NvidiaSmi.class);
    private static final Pattern GPU = Pattern.compile("GPU (\\d+): .*\\(UUID: (GPU-[^)]+)\\)\\s*");
    private static final Pattern PART = Pattern.compile("\\s+MIG .*\\(UUID: (MIG-[^)]+)\\)\\s*");

    /** With a broken driver the tool may hang. */
    private static final int PATIENCE_SECONDS = 60;

    private NvidiaSmi() {}

    /** @param parts UUIDs of its MIG instances, if it is divided: then there is no way to use it as a whole */
    record Device(String index, String uuid, List<String> parts) {
        /** What can be given to different processes, as CUDA_VISIBLE_DEVICES takes it. */
        List<String> names() {
            return parts.isEmpty() ? List.of(index) : parts;
        }

        /** By its index, or by a UUID of it or its parts, which may be cut short. */
        boolean isCalled(String name) {
            return name.equals(index)
                    || name.matches("(GPU|MIG)-.+")
                            && Stream.concat(Stream.of(uuid), parts.stream()).anyMatch(known -> known.startsWith(name))
                    || name.startsWith("MIG-" + uuid + "/"); // the form of drivers before R470
        }
    }

    static List<Device> devices() {
        Process process;
        try {
            process = new ProcessBuilder("nvidia-smi", "-L")
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException noDriver) {
            LOG.debug("there is no nvidia-smi here", noDriver);
            return List.of();
        }
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("nvidia-smi -L did not answer within {} s; no GPU is used", PATIENCE_SECONDS);
                return List.of();
            }
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.exitValue() != 0) {
                LOG.warn("nvidia-smi -L ended with {}; no GPU is used: {}", process.exitValue(), said.strip());
                return List.of();
            }
            return parse(said);
        } catch (IOException e) {
            LOG.warn("cannot read what nvidia-smi -L says; no GPU is used", e);
            return List.of();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of();
        } finally {
            process.destroyForcibly();
        }
    }

    static List<Device> parse(String listing) {
        List<Device> devices = new ArrayList<>();
        for (String line : listing.lines().toList()) {
            Matcher gpu = GPU.matcher(line);
            Matcher part = PART.matcher(line);
            if (gpu.matches()) {
                devices.add(new Device(gpu.group(1), gpu.group(2), new ArrayList<>()));
            } else if (part.matches() && !devices.isEmpty()) {
                devices.get(devices.size() - 1).parts().add(part.group(1));
            }
        }
        return devices;
    }
}
