package dev.caravan.architecture.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** No violation: the store opens files. */
public final class PlantedStore {
    private PlantedStore() {}

    public static String read(Path file) throws IOException {
        return Files.readString(file);
    }
}
