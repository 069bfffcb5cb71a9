package dev.caravan.report;

import java.util.List;
import java.util.Locale;

/** Builds HTML in which every value is text, whatever it holds. */
final class Html {
    private final StringBuilder text = new StringBuilder();

    static String escaped(Object value) {
        StringBuilder out = new StringBuilder();
        String.valueOf(value).codePoints().forEach(c -> {
            switch (c) {
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '"' -> out.append("&quot;");
                case '\'' -> out.append("&#39;");
                default -> {
                    boolean shown = c >= ' ' && c != 0x7f || c == '\n' || c == '\t';
                    out.appendCodePoint(shown ? c : 0xfffd);
                }
            }
        });
        return out.toString();
    }

    /** Markup of the program itself; each {@code %s} is replaced by an escaped value. */
    Html add(String markup, Object... values) {
        Object[] safe = new Object[values.length];
        for (int i = 0; i < values.length; i++) {
            safe[i] = values[i] instanceof Number ? values[i] : escaped(values[i]);
        }
        text.append(String.format(Locale.ROOT, markup, safe)).append('\n');
        return this;
    }

    Html heading(String title) {
        return add("<h2>%s</h2>", title);
    }

    /** Two columns: what, and its value. */
    Html fact(String what, Object value) {
        return add("<tr><th scope=\"row\">%s</th><td>%s</td></tr>", what, value);
    }

    Html table(List<String> columns) {
        add("<div class=\"wide\"><table><thead><tr>");
        columns.forEach(column -> add("<th scope=\"col\">%s</th>", column));
        return add("</tr></thead><tbody>");
    }

    Html row(Object... cells) {
        add("<tr>");
        for (Object cell : cells) {
            add(cell instanceof Number ? "<td class=\"number\">%s</td>" : "<td>%s</td>", cell);
        }
        return add("</tr>");
    }

    Html endTable() {
        return add("</tbody></table></div>");
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
