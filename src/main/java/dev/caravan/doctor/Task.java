package dev.caravan.doctor;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a helper process is asked to do, one line of JSON.
 *
 * @param folder or file to do it in
 * @param who names the asked one in what it writes
 * @param count names to race for, or rounds
 * @param millis how long to do it, or to wait for each sign
 */
record Task(Kind kind, String folder, String who, int count, long millis) {
    enum Kind {
        RACE_LINK,
        RACE_CREATE,
        REPLACE,
        READ,
        ECHO,
        HOLD_FCNTL,
        TRY_FCNTL,
        HOLD_FLOCK,
        TRY_FLOCK
    }

    /**
     * @param won numbers of the names that were won
     * @param reads looks at a file that is replaced; of these it was missing, mixed, or stale to be read again
     * @param got whether the lock was got
     * @param error what went wrong, null if nothing did
     */
    record Answer(
            List<Integer> won,
            long reads,
            long missing,
            long mixed,
            long stale,
            boolean got,
            @Nullable String error) {
        Answer {
            won = List.copyOf(won);
        }

        static Answer won(List<Integer> names) {
            return new Answer(names, 0, 0, 0, 0, false, null);
        }

        static Answer got(boolean got) {
            return new Answer(List.of(), 0, 0, 0, 0, got, null);
        }

        static Answer failed(String error) {
            return new Answer(List.of(), 0, 0, 0, 0, false, error);
        }
    }
}
