package dev.caravan.doctor;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.Locale;

/** What the system said, without paths of scratch files. */
final class Reason {
    private Reason() {}

    static String of(Exception e) {
        if (e instanceof FileSystemException known && known.getReason() != null) {
            return known.getReason();
        }
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    static boolean isStaleHandle(IOException e) {
        return of(e).toLowerCase(Locale.ROOT).contains("stale");
    }
}
