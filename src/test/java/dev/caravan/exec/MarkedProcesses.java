package dev.caravan.exec;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Finds every process that inherited a mark in its environment, whatever its group, session or parent. */
final class MarkedProcesses {
    private static final String NAME = "CARAVAN_TEST_MARK";

    final String mark;

    MarkedProcesses(String mark) {
        this.mark = mark;
    }

    MarkedProcesses() {
        this(UUID.randomUUID().toString());
    }

    Map<String, String> environment() {
        return Map.of(NAME, mark);
    }

    List<ProcessHandle> alive() {
        return ProcessHandle.allProcesses()
                .filter(process -> environmentOf(process.pid()).contains(NAME + "=" + mark))
                .toList();
    }

    /** Empty for zombies and for processes that are gone. */
    private static String environmentOf(long pid) {
        try {
            return Files.readString(Path.of("/proc/" + pid + "/environ"), StandardCharsets.ISO_8859_1);
        } catch (IOException gone) {
            return "";
        }
    }
}
