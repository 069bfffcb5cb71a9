package dev.caravan.architecture.intake;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A violation: a file that is opened outside the store. */
public final class PlantedFileReader {
    private PlantedFileReader() {}

    public static String read(Path file) throws IOException {
        return Files.readString(file);
    }
}
