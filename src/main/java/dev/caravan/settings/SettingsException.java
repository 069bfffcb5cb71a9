package dev.caravan.settings;

import dev.caravan.CaravanException;
import java.util.List;

/** The settings cannot be used; the message holds every problem found. */
public class SettingsException extends CaravanException {
    private final List<String> problems;

    SettingsException(Problems problems) {
        super(problems.report("The settings cannot be used; nothing was started:"));
        this.problems = problems.list();
    }

    public List<String> problems() {
        return problems;
    }
}
