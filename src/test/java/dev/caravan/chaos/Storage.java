package dev.caravan.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** One server, a mount for each node and one for the test, and all that can go wrong with them. */
public final class Storage implements AutoCloseable {
    private static final String TOOL =
            Path.of("src", "test", "nas", "nas-up").toAbsolutePath().toString();

    private final Path folder;
    private final int clients;
    private final Set<Integer> hung = ConcurrentHashMap.newKeySet();
    private final Set<Integer> dead = ConcurrentHashMap.newKeySet();
    private volatile boolean serverHung;
    private volatile boolean full;

    private Storage(Path folder, int clients) {
        this.folder = folder;
        this.clients = clients;
    }

    public static Storage start(Path folder, int nodes, String brickSize) throws IOException {
        Storage storage = new Storage(folder, nodes + 1);
        Map<String, String> environment = Map.of("GLUSTER_PORT", freePort(), "BRICK_SIZE", brickSize);
        Shell.run(environment, TOOL, folder.toString(), Integer.toString(storage.clients));
        Files.createDirectories(storage.shared());
        return storage;
    }

    private static String freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return Integer.toString(socket.getLocalPort());
        }
    }

    /** Where every node sees the shared directory: empty outside the nodes' namespaces. */
    public Path shared() {
        return folder.resolve("shared");
    }

    public Path mount(int client) {
        return folder.resolve("n" + client);
    }

    /** The test's own mount; it hangs with the server. */
    public Path own() {
        return mount(clients);
    }

    /** The server's side: always there, for reading only. */
    Path brick() {
        return folder.resolve(".brick");
    }

    boolean isServing() {
        return !serverHung && !full;
    }

    boolean isServing(int client) {
        return isServing() && !hung.contains(client) && !dead.contains(client);
    }

    boolean isFaulted(int client) {
        return hung.contains(client) || dead.contains(client);
    }

    boolean isDead(int client) {
        return dead.contains(client);
    }

    private long pid(String name) {
        try {
            return Long.parseLong(Files.readString(folder.resolve(".gluster").resolve(name + ".pid"))
                    .trim());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void hangServer() {
        serverHung = true;
        Shell.signal("STOP", pid("server"));
    }

    void resumeServer() {
        Shell.signal("CONT", pid("server"));
        serverHung = false;
    }

    void hang(int client) {
        hung.add(client);
        Shell.signal("STOP", pid("client" + client));
    }

    void resume(int client) {
        Shell.signal("CONT", pid("client" + client));
        hung.remove(client);
    }

    /** From now on the mount answers "Transport endpoint is not connected". */
    void kill(int client) {
        dead.add(client);
        Shell.signal("KILL", pid("client" + client));
    }

    /** Outside; a living node's namespace has to take the new mount too. */
    void remount(int client) {
        Shell.run(TOOL, folder.toString(), "mount", Integer.toString(client));
        dead.remove(client);
    }

    void fill() {
        full = true;
        try {
            long free = Files.getFileStore(brick()).getUsableSpace();
            Shell.result(Map.of(), "fallocate", "-l", Long.toString(free), filler());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void free() {
        Shell.run("rm", "-f", filler());
        full = false;
    }

    private String filler() {
        return brick().resolve("filler").toString();
    }

    @Override
    public void close() {
        Shell.result(Map.of(), TOOL, folder.toString(), "down");
    }
}
