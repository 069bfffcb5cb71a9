package dev.caravan.e2e;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The dashboard in a real browser. Screenshots are left in {@code target/screenshots}. */
class DashboardIT {
    private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
    private static final Path SCREENSHOTS = Path.of("target", "screenshots");
    private static final String HOSTILE = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>";

    @RegisterExtension
    final Fleet fleet = new Fleet();

    private final Web web = Web.free();
    private final List<String> complaints = new ArrayList<>();
    private Playwright playwright;
    private Browser browser;

    @BeforeEach
    void open() {
        assumeTrue(Files.isExecutable(CHROMIUM), "there is no " + CHROMIUM + ": apt-get install chromium");
        PlaywrightAssertions.setDefaultAssertionTimeout(Await.LIMIT.toMillis());
        playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        browser = playwright
                .chromium()
                .launch(new BrowserType.LaunchOptions()
                        .setExecutablePath(CHROMIUM)
                        .setArgs(List.of("--no-sandbox", "--disable-gpu", "--hide-scrollbars")));
    }

    @AfterEach
    void close() {
        if (playwright != null) {
            playwright.close();
        }
    }

    private Page page(int width, int height, ColorScheme colours) {
        Page page = browser.newPage(
                new Browser.NewPageOptions().setViewportSize(width, height).setColorScheme(colours));
        page.setDefaultTimeout(Await.LIMIT.toMillis());
        page.onConsoleMessage(message -> {
            if (message.type().equals("error")) {
                complaints.add(message.text());
            }
        });
        page.onPageError(complaints::add);
        return page;
    }

    private void shot(Page page, String name) {
        page.screenshot(new Page.ScreenshotOptions().setFullPage(true).setPath(SCREENSHOTS.resolve(name + ".png")));
    }

    private void submit(Sample job) {
        fleet.run("submit", job.descriptor().toString(), "--root", job.root().toString())
                .endsWith(0);
    }

    private CaravanProcess node() {
        String root = fleet.folder().resolve("root").toString();
        fleet.with("http.port", Integer.toString(web.port()))
                .with("http.token", Web.TOKEN)
                .with("gpus.logical", "2");
        CaravanProcess node = fleet.start("node", "--root", root, "--slots", "2");
        Await.until("the node answers", () -> web.answers() || !node.isAlive(), node::toString);
        return node;
    }

    @Test
    void a_job_is_watched_and_acted_on_and_nothing_hostile_runs() {
        // whichever place the node starts at, the first 80 shards are done and the next ones wait
        Sample running = new Sample(fleet.folder(), "clean-web", 240, 120)
                .written("echo $3 >> \"$5/begun\"; [ $(wc -l < \"$5/begun\") -le 80 ] ||"
                        + " while [ ! -e \"$5/go\" ]; do sleep 0.1; done");
        // what a record, a file name and an error message may say
        Sample hostile = new Sample(fleet.folder(), "hostile", 2, 2)
                .written(
                        "echo '" + HOSTILE + "'; echo '" + HOSTILE + "' >&2; case $3 in part-00001*) exit 3;; esac",
                        "policy: {max_retries: 0, on_bad_record: quarantine}",
                        "output: \"" + fleet.folder().resolve("<img src=x onerror=window.hacked=1>.jsonl") + "\"");
        Sample.write(hostile.input(), Sample.read(hostile.input()) + HOSTILE + "\n");
        CaravanProcess node = node();
        submit(hostile);
        Await.until(
                "the hostile job has failed",
                () -> web.json("/api/jobs/hostile").path("state").asText().equals("failed"),
                node::toString);
        submit(badInput());
        Await.until(
                "the input of hostile name and content is refused",
                () -> web.json("/api/jobs/bad-input").path("state").asText().equals("failed"),
                node::toString);
        submit(running); // now, since it keeps all slots
        Page page = page(1280, 900, ColorScheme.LIGHT);
        page.navigate(web.url("/"));

        Locator row = page.locator(".job", new Page.LocatorOptions().setHasText("hostile"));
        assertThat(row.locator(".state")).hasText("failed");
        assertThat(page.locator("#link")).hasText("live");
        assertThat(page.locator(".job", new Page.LocatorOptions().setHasText("clean-web")))
                .containsText("rows/s, ETA");
        assertThat(page.getByText("0 of 2").or(page.getByText("2 of 2"))).isVisible();
        shot(page, "jobs-desktop");

        watched(page);
        refused(page);
        byKeyboard(page);
        acted(page, running, node);
        looks();
        assertThat(complaints).filteredOn(text -> !text.contains("401")).isEmpty();
    }

    /** A hostile job: its log, cause and output are text. */
    private void watched(Page page) {
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("hostile"))
                .click();
        assertThat(page.locator("dl").first()).containsText("<img src=x onerror=window.hacked=1>.jsonl");
        assertThat(page.locator("dl").first()).containsText("bad lines of the input: 1");
        page.locator(".map button.failed").click();
        page.getByRole(
                        AriaRole.BUTTON,
                        new Page.GetByRoleOptions().setName("Log").setExact(true))
                .click();
        assertThat(page.locator("#log")).containsText(HOSTILE);
        assertThat(page.getByText("sh returned exit code 3").first()).isVisible();
        shot(page, "job-failed");
        assertThat(page.evaluate("window.hacked")).isNull();
        assertThat(page.locator("main img, main script").count()).isZero();
    }

    /** Its error message names the file and quotes the line. */
    private Sample badInput() {
        String file = "<img src=x onerror=window.hacked=1> rows.jsonl";
        Sample.write(fleet.folder().resolve(file), HOSTILE + "\n");
        Sample job = new Sample(fleet.folder(), "bad-input", 1, 1);
        Sample.write(job.descriptor(), job.yaml().replace(job.input().toString(), "'" + file + "'"));
        return job;
    }

    private void refused(Page page) {
        page.navigate(web.url("/#/job/bad-input"));
        assertThat(page.getByText("onerror=window.hacked=1> rows.jsonl").first())
                .isVisible();
        assertThat(page.evaluate("window.hacked")).isNull();
        assertThat(page.locator("main img, main script").count()).isZero();
    }

    private void byKeyboard(Page page) {
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Jobs"))
                .focus();
        page.keyboard().press("Enter");
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("clean-web"))
                .focus();
        page.keyboard().press("Enter");
        assertThat(page.locator(".map button")).hasCount(120);
        page.locator(".map button").first().focus();
        page.keyboard().press("ArrowRight");
        page.keyboard().press("ArrowRight");
        page.keyboard().press("Enter");
        assertThat(page.locator(".map button[aria-pressed=true]")).hasAttribute("data-cell", "2");
        assertThat(page.getByText("part-00002-of-00120").first()).isVisible();
        assertThat(page.locator(".map button[data-cell='2']")).isFocused();
        shot(page, "job-desktop");
    }

    private void acted(Page page, Sample running, CaravanProcess node) {
        Locator pause = page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Pause"));
        pause.click();
        page.locator("#token").fill("not the token at all");
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Use it"))
                .click();
        assertThat(page.locator("#notice")).containsText("this needs the token");
        assertThat(running.inRoot().paused()).doesNotExist();

        pause.click();
        page.locator("#token").fill(Web.TOKEN);
        page.keyboard().press("Enter");
        assertThat(page.locator("h1 .state")).hasText("paused");
        assertThat(running.inRoot().paused()).exists();
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Resume"))
                .click();
        assertThat(page.locator("h1 .state")).hasText("running");

        Sample.write(fleet.folder().resolve("go"), "");
        assertThat(page.locator("h1 .state")).hasText("done"); // by itself: the page is live
        assertThat(page.locator(".map button.done")).hasCount(120);
        assertThat(running.inRoot().mergedByDefault()).content().isEqualTo(running.expected());
    }

    private void looks() {
        for (Map.Entry<String, ColorScheme> look : Map.of("phone", ColorScheme.LIGHT, "phone-dark", ColorScheme.DARK)
                .entrySet()) {
            Page phone = page(390, 844, look.getValue());
            phone.navigate(web.url("/#/job/clean-web"));
            assertThat(phone.locator(".map button")).hasCount(120);
            shot(phone, "job-" + look.getKey());
            phone.navigate(web.url("/#/"));
            assertThat(phone.locator("table")).isVisible();
            assertThat((Integer) phone.evaluate("document.documentElement.scrollWidth"))
                    .as("no sideways scrolling")
                    .isLessThanOrEqualTo(390);
            shot(phone, "jobs-" + look.getKey());
        }
        Page dark = page(1280, 900, ColorScheme.DARK);
        dark.navigate(web.url("/#/job/hostile"));
        assertThat(dark.locator(".map button")).hasCount(2);
        shot(dark, "job-dark");
    }
}
