package dev.caravan.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a benchmark found, as README shows it. */
record Table(List<String> header, List<List<String>> rows) {
    Table {
        header = List.copyOf(header);
        rows = List.copyOf(rows);
        for (List<String> row : rows) {
            assertThat(row).as("a row of the table %s", header).hasSameSizeAs(header);
        }
    }

    /** One table of two that tell the same of different work. */
    Table and(Table other) {
        return new Table(
                header, Stream.concat(rows.stream(), other.rows.stream()).toList());
    }

    @Override
    public String toString() {
        Stream<List<String>> top =
                Stream.of(header, header.stream().map(cell -> "---").toList());
        return Stream.concat(top, rows.stream())
                .map(cells -> cells.stream().collect(Collectors.joining(" | ", "| ", " |\n")))
                .collect(Collectors.joining());
    }
}
