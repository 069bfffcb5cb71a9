package dev.caravan.doctor;

import dev.caravan.settings.Durations;

/** The diagnosis for people. */
public final class DiagnosisText {
    private DiagnosisText() {}

    public static String of(Diagnosis diagnosis) {
        int property = "property".length();
        int measured = "measured".length();
        for (Measured line : diagnosis.properties()) {
            property = Math.max(property, line.property().toString().length());
            measured = Math.max(measured, line.measured().length());
        }
        String form = "%-" + property + "s  %-" + measured + "s  %-7s  %s%n";
        StringBuilder text = new StringBuilder();
        text.append(form.formatted("property", "measured", "verdict", "why it matters"));
        for (Measured line : diagnosis.properties()) {
            text.append(form.formatted(
                    line.property(),
                    line.measured(),
                    line.grade(),
                    line.property().why()));
        }
        Recommendation recommended = diagnosis.recommended();
        text.append("%nrecommended  claim.lease: %s  claim.heartbeat: %s%n"
                .formatted(Durations.format(recommended.lease()), Durations.format(recommended.heartbeat())));
        if (diagnosis.nodes().size() == 1 && !diagnosis.mount().isLocal()) {
            text.append("measured by one node: what another node sees late is not known. Run it on two or more nodes at"
                    + " the same time with --peers N\n");
        }
        return text.toString();
    }
}
