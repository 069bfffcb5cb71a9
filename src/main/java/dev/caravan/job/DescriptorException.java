package dev.caravan.job;

import dev.caravan.CaravanException;
import dev.caravan.settings.Problems;
import java.util.List;

/** The job descriptor cannot be used; the message holds every problem found. */
public class DescriptorException extends CaravanException {
    private final List<String> problems;

    DescriptorException(String source, Problems problems) {
        super(problems.report("The job descriptor " + source + " cannot be used:"));
        this.problems = problems.list();
    }

    public List<String> problems() {
        return problems;
    }
}
