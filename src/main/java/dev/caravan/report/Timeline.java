package dev.caravan.report;

import dev.caravan.status.JobFigures;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Pictures of a job's time as SVG: which node worked when on which shard, and how much was finished. */
final class Timeline {
    private static final int WIDTH = 960;
    private static final int LANE = 22;
    private static final int BARS = 120;

    /** Beyond that a picture shows nothing, and costs megabytes. */
    static final int MOST_SPANS = 5_000;

    private Timeline() {}

    static void ofNodes(Html page, List<JobFigures.Span> spans) {
        long from = spans.get(0).from();
        double seconds = Math.max(1e-3, seconds(spans, from));
        Map<String, List<JobFigures.Span>> lanes =
                spans.stream().collect(Collectors.groupingBy(JobFigures.Span::node, TreeMap::new, Collectors.toList()));
        page.add(
                "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Shards by node over time\">",
                WIDTH, lanes.size() * LANE * 2);
        int y = 0;
        for (Map.Entry<String, List<JobFigures.Span>> lane : lanes.entrySet()) {
            page.add("<text x=\"0\" y=\"%d\">%s</text>", y + 15, lane.getKey());
            for (JobFigures.Span span : lane.getValue()) {
                page.add(
                        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>%s, %.1f s, %d rows%s</title></rect>",
                        (span.from() - from) / 1000.0 / seconds * WIDTH,
                        y + LANE,
                        Math.max(1, span.seconds() / seconds * WIDTH - 1),
                        LANE - 4,
                        span.shard(),
                        span.seconds(),
                        span.rows(),
                        span.speculative() ? ", speculative attempt" : "");
            }
            y += 2 * LANE;
        }
        page.add("</svg><p class=\"scale\"><span>0 s</span><span>%.0f s</span></p>", seconds);
    }

    static void ofThroughput(Html page, List<JobFigures.Stretch> stretches) {
        long most = Math.max(
                1, stretches.stream().mapToLong(JobFigures.Stretch::rows).max().orElse(1));
        double width = (double) WIDTH / stretches.size();
        page.add("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Rows finished over time\">", WIDTH, BARS);
        for (int i = 0; i < stretches.size(); i++) {
            JobFigures.Stretch stretch = stretches.get(i);
            double height = (double) stretch.rows() / most * BARS;
            page.add(
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%d rows in %d s</title></rect>",
                    i * width, BARS - height, Math.max(1, width - 1), height, stretch.rows(), stretch.seconds());
        }
        page.add(
                "</svg><p class=\"scale\"><span>highest bar: %d rows in %d s</span></p>",
                most, stretches.get(0).seconds());
    }

    static double seconds(List<JobFigures.Span> spans, long from) {
        return spans.stream()
                .mapToDouble(span -> (span.from() - from) / 1000.0 + span.seconds())
                .max()
                .orElse(0);
    }
}
