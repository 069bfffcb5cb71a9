package dev.caravan.store;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.caravan.CaravanException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;

/** The shared directory did not do what was asked of it, or holds what it should not. */
public class StoreException extends CaravanException {
    public StoreException(String message) {
        super(message);
    }

    public StoreException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Whether the mount did not answer, which passes; otherwise what it holds is not what it should be. */
    public boolean isMountTrouble() {
        return getCause() instanceof IOException cause
                && !(cause instanceof JsonProcessingException)
                && !(cause instanceof AccessDeniedException);
    }
}
