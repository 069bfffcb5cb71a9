package dev.caravan.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.caravan.Main;
import dev.caravan.architecture.cli.PlantedStatusCommand;
import dev.caravan.architecture.exec.PlantedExecStep;
import dev.caravan.architecture.intake.PlantedFileReader;
import dev.caravan.architecture.intake.PlantedIntakeStep;
import dev.caravan.architecture.shard.PlantedValue;
import dev.caravan.architecture.status.PlantedClock;
import dev.caravan.architecture.status.PlantedRoute;
import dev.caravan.architecture.store.PlantedStore;
import java.net.URISyntaxException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Where things may be used. Each rule is shown to find the violation that is planted below this package. */
class ArchitectureTest {
    private static final List<String> STAGES = List.of("intake", "claim", "exec", "finalize");

    /** Who may read a clock by itself, and why; all others are handed the time or a clock. */
    private static final Map<String, String> CLOCK_READERS = Map.ofEntries(
            Map.entry("dev.caravan.lease.Heart", "beats by the real clock and lends it to its leases"),
            Map.entry("dev.caravan.claim.Requeue", "tells people when a retry was asked for"),
            Map.entry("dev.caravan.exec.Attempts", "tells people when an attempt began and ended"),
            Map.entry("dev.caravan.exec.Ends", "waits a moment for the news that the node is told to leave"),
            Map.entry("dev.caravan.exec.ChildExecutor", "waits for real processes"),
            Map.entry("dev.caravan.exec.ChildWatch", "waits for real processes"),
            Map.entry("dev.caravan.node.Node", "gives the real clock to all others"),
            Map.entry("dev.caravan.node.NodeWork", "tells how long the node has been idle"),
            Map.entry("dev.caravan.node.Presence", "tells people when the node was seen"),
            Map.entry("dev.caravan.node.Roles", "tells people when a role ended"),
            Map.entry("dev.caravan.status.StatusReader", "shows people the age of a beat"),
            Map.entry("dev.caravan.python.Installation", "shows people how long an installation took"),
            Map.entry("dev.caravan.cli.DoctorCommand", "measures how late a mount is"),
            Map.entry("dev.caravan.cli.DoctorHelperCommand", "measures how late a mount is"),
            Map.entry("dev.caravan.cli.LeaveOptions", "turns a time of day into a duration"),
            Map.entry("dev.caravan.cli.Waiting", "gives the real clock to the progress display"));

    private static JavaClasses program;

    @BeforeAll
    static void load() throws URISyntaxException {
        program = new ClassFileImporter()
                .importPath(Path.of(Main.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI()));
    }

    private static JavaClasses planted(Class<?> violation) {
        return new ClassFileImporter().importClasses(violation);
    }

    private static String[] in(String... packages) {
        return Arrays.stream(packages)
                .map(name -> "dev.caravan.." + name + "..")
                .toArray(String[]::new);
    }

    private static void assertFinds(ArchRule rule, Class<?> violation, String... messages) {
        assertThatThrownBy(() -> rule.check(planted(violation)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContainingAll(messages);
    }

    private static ArchRule standsAlone(String stage) {
        String[] others = STAGES.stream().filter(other -> !other.equals(stage)).toArray(String[]::new);
        return noClasses()
                .that()
                .resideInAPackage(in(stage)[0])
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(in(others));
    }

    @TestFactory
    Stream<DynamicTest> no_stage_knows_another() {
        return STAGES.stream()
                .map(stage ->
                        DynamicTest.dynamicTest(stage, () -> standsAlone(stage).check(program)));
    }

    @Test
    void a_stage_that_knows_another_is_found() {
        assertFinds(standsAlone("intake"), PlantedIntakeStep.class, "PlantedIntakeStep", "claim");
        assertFinds(standsAlone("exec"), PlantedExecStep.class, "PlantedExecStep", "intake");
    }

    private static final ArchRule FILES_ARE_OPENED_BY_THE_STORE = noClasses()
            .that()
            .resideOutsideOfPackages(in("store", "python"))
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(
                    Files.class,
                    FileChannel.class,
                    java.io.FileInputStream.class,
                    java.io.FileOutputStream.class,
                    java.io.FileReader.class,
                    java.io.FileWriter.class,
                    java.io.RandomAccessFile.class);

    @Test
    void files_are_opened_by_the_store_alone_and_by_the_python_side() {
        FILES_ARE_OPENED_BY_THE_STORE.check(program);
        FILES_ARE_OPENED_BY_THE_STORE.allowEmptyShould(true).check(planted(PlantedStore.class));
    }

    @Test
    void a_file_that_is_opened_elsewhere_is_found() {
        assertFinds(FILES_ARE_OPENED_BY_THE_STORE, PlantedFileReader.class, "PlantedFileReader", "Files.readString");
    }

    private static final ArchRule VALUES_DO_NO_IO = noClasses()
            .that()
            .resideInAPackage(in("shard")[0])
            .should()
            .dependOnClassesThat(resideInAnyPackage("java.io..", "java.nio..", "java.net..")
                    .and(not(DescribedPredicate.describe(
                            "are for serialization",
                            type -> type.getSimpleName().startsWith("Serial")))));

    @Test
    void values_do_no_io() {
        VALUES_DO_NO_IO.check(program);
    }

    @Test
    void a_value_that_does_io_is_found() {
        assertFinds(VALUES_DO_NO_IO, PlantedValue.class, "PlantedValue", "java.nio.file.Path");
    }

    private static final ArchRule CAMEL_IS_USED_BY_THE_STAGES_AND_THE_NODE = noClasses()
            .that()
            .resideOutsideOfPackages(in("intake", "claim", "exec", "finalize", "node", "dashboard"))
            .should()
            .dependOnClassesThat(resideInAPackage("org.apache.camel.."));

    @Test
    void camel_is_used_by_the_stages_and_the_node_alone() {
        CAMEL_IS_USED_BY_THE_STAGES_AND_THE_NODE.check(program);
    }

    @Test
    void camel_in_another_place_is_found() {
        assertFinds(CAMEL_IS_USED_BY_THE_STAGES_AND_THE_NODE, PlantedRoute.class, "PlantedRoute", "org.apache.camel");
    }

    /** Commands that read or write a job directory and are done: they start at once, since no Camel is loaded. */
    private static final ArchRule QUICK_COMMANDS_LOAD_NO_CAMEL = noClasses()
            .that()
            .haveNameMatching(
                    "dev\\.caravan\\..*cli\\.\\w*(Status|Watch|Clean|Retry|Pause|Resume|Cancel|Verify|Merge|Submit|Python|DoctorHelper)Command")
            .should()
            .transitivelyDependOnClassesThat(resideInAPackage("org.apache.camel.."));

    @Test
    void quick_commands_load_no_camel() {
        QUICK_COMMANDS_LOAD_NO_CAMEL.check(program);
    }

    @Test
    void a_quick_command_that_loads_camel_is_found() {
        JavaClasses both = new ClassFileImporter().importClasses(PlantedStatusCommand.class, PlantedRoute.class);
        assertThatThrownBy(() -> QUICK_COMMANDS_LOAD_NO_CAMEL.check(both))
                .isInstanceOf(AssertionError.class)
                .hasMessageContainingAll("PlantedStatusCommand", "PlantedRoute", "org.apache.camel");
    }

    private static boolean readsTheClock(JavaAccess<?> access) {
        String owner = access.getTargetOwner().getName();
        String name = access.getTarget().getName();
        return owner.equals(Instant.class.getName()) && name.equals("now")
                || owner.equals(System.class.getName()) && (name.equals("currentTimeMillis") || name.equals("nanoTime"))
                || owner.matches("java\\.time\\.(Local|Zoned|Offset)\\w+|java\\.util\\.Date")
                        && name.matches("now|<init>");
    }

    private static String topLevel(JavaClass type) {
        return type.getName().replaceFirst("\\$.*", "");
    }

    private static final ArchRule CLOCKS_ARE_HANDED_IN = classes()
            .that(DescribedPredicate.describe(
                    "are not listed as readers of the clock", type -> !CLOCK_READERS.containsKey(topLevel(type))))
            .should(new ArchCondition<>("be handed the time") {
                @Override
                public void check(JavaClass type, ConditionEvents events) {
                    for (JavaAccess<?> access : type.getAccessesFromSelf()) {
                        if (readsTheClock(access)) {
                            events.add(SimpleConditionEvent.violated(access, access.getDescription()));
                        }
                    }
                }
            });

    @Test
    void clocks_are_handed_in_except_where_listed() {
        CLOCKS_ARE_HANDED_IN.check(program);
    }

    @Test
    void every_listed_reader_of_the_clock_reads_it() {
        Set<String> readers = new TreeSet<>();
        for (JavaClass type : program) {
            if (type.getAccessesFromSelf().stream().anyMatch(ArchitectureTest::readsTheClock)) {
                readers.add(topLevel(type));
            }
        }
        CLOCK_READERS.keySet().stream()
                .filter(program::contain)
                .forEach(listed -> assertThat(readers).contains(listed));
    }

    @Test
    void a_clock_that_is_read_elsewhere_is_found() {
        assertFinds(
                CLOCKS_ARE_HANDED_IN,
                PlantedClock.class,
                "Instant.now()",
                "System.nanoTime()",
                "System.currentTimeMillis()");
    }

    private static final ArchRule THE_REAL_CLOCK_IS_CHOSEN_AT_THE_EDGE = noClasses()
            .that()
            .resideOutsideOfPackages(in("cli", "node"))
            .and()
            .doNotHaveFullyQualifiedName("dev.caravan.lease.Heart")
            .and()
            .doNotHaveFullyQualifiedName("dev.caravan.intake.Preparation")
            .and()
            .doNotHaveFullyQualifiedName("dev.caravan.finalize.Merging")
            .should()
            .callMethod(Clock.class, "systemUTC");

    @Test
    void the_real_clock_is_chosen_by_commands_and_route_steps() {
        THE_REAL_CLOCK_IS_CHOSEN_AT_THE_EDGE.check(program);
    }

    @Test
    void the_real_clock_in_the_middle_is_found() {
        assertFinds(THE_REAL_CLOCK_IS_CHOSEN_AT_THE_EDGE, PlantedClock.class, "Clock.systemUTC()");
    }
}
