package dev.caravan.node;

import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.Disk;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/** Makes the identity of this process as a node. */
public final class Identities {
    private Identities() {}

    /** @param configured the setting {@code node.id}; empty for host name and a random part */
    public static NodeIdentity of(String configured) {
        String hostname = hostname();
        String id = configured.isEmpty()
                ? hostname + "-"
                        + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt())
                : configured;
        return new NodeIdentity(
                id.replaceAll("[^A-Za-z0-9._-]", "_"),
                hostname,
                ProcessHandle.current().pid());
    }

    /** The kernel's own name where no resolver knows it: else all such nodes would be called localhost. */
    private static String hostname() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unresolvable) {
            return Disk.readKernelText("/proc/sys/kernel/hostname")
                    .map(String::strip)
                    .filter(name -> !name.isEmpty())
                    .orElse("localhost");
        }
    }
}
