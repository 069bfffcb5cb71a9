package dev.caravan.bench;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/** Records like those of a web crawl: a text of some kilobytes, mostly ASCII, and a few short members. */
final class WebRecords {
    private static final String[] WORDS =
            ("the of and to in a is that for it as was with be by on not he his but at are this have from or had an"
                            + " they which one you were all her she there would their we him been has when who will more no if"
                            + " out so what up said its about than into them can only other time new some could these two may"
                            + " first then do any like my now over such our man me even most made after also did many off before"
                            + " must well back through years where much your way down should because long each just state people"
                            + " café naïve Straße \\\"quoted\\\" 数据 処理 — line\\n")
                    .split(" ");

    private WebRecords() {}

    static Path write(Path file, int megabytes) throws IOException {
        Random random = new Random(7);
        long left = (long) megabytes << 20;
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            for (int row = 0; left > 0; row++) {
                StringBuilder text = new StringBuilder();
                for (int words = 50 + random.nextInt(1200); words > 0; words--) {
                    text.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
                }
                String record = "{\"id\": " + row + ", \"url\": \"https://example.org/page/" + row
                        + "\", \"text\": \"" + text + "\", \"meta\": {\"lang\": \"en\", \"score\": 0."
                        + (1 + random.nextInt(9)) + "}}\n";
                out.write(record);
                left -= record.length();
            }
        }
        return file;
    }
}
