package dev.caravan.doctor;

import java.nio.file.FileSystemException;

/** What the system said, without paths of scratch files. */
final class Reason {
    private Reason() {}

    static String of(Exception e) {
        if (e instanceof FileSystemException known && known.getReason() != null) {
            return known.getReason();
        }
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }
}
