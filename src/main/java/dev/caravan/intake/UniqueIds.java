package dev.caravan.intake;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * That the records of a job must have ids that do not repeat.
 *
 * @param column key of the records
 * @param scratch folder on a disk of this node for as long as they are compared
 */
public record UniqueIds(String column, Path scratch) {

    /** @throws IntakeException with the first places where an id stands twice */
    void requireUnique(RecordIds seen) throws IOException {
        Optional<RecordIds.Repeated> repeated = seen.repeated();
        if (repeated.isPresent()) {
            throw new IntakeException("id column '" + column + "' must tell each record from all others, but "
                    + at(repeated.get().again()) + " has the id of "
                    + at(repeated.get().first())
                    + ": make ids unique, or name another column in checkpoint.id_column");
        }
    }

    private static String at(RecordIds.Place place) {
        return place.file() + " line " + place.line();
    }
}
