package dev.caravan.exec;

import java.io.Serial;
import java.util.Set;
import org.apache.camel.Exchange;
import org.apache.camel.LoggingLevel;
import org.apache.camel.Message;
import org.apache.camel.component.exec.ExecCommand;
import org.apache.camel.component.exec.ExecEndpoint;
import org.apache.camel.component.exec.ExecResult;
import org.apache.camel.component.exec.impl.DefaultExecBinding;
import org.jspecify.annotations.Nullable;

/** Carries a {@link Child} from the exchange to the executor and its end back; the message body stays as it is. */
public final class ChildBinding extends DefaultExecBinding {
    static final String CHILD = "CaravanChild";
    static final String END = "CaravanChildEnd";

    @Override
    public ExecCommand readInput(Exchange exchange, ExecEndpoint endpoint) {
        Child child = exchange.getProperty(CHILD, Child.class);
        if (child == null) {
            throw new IllegalStateException(
                    "the exchange property " + CHILD + " is missing: call attempts.begin before exec:");
        }
        return new ChildCommand(child);
    }

    @Override
    public void writeOutput(Exchange exchange, ExecResult result) {
        exchange.setProperty(END, ((ChildCommand) result.getCommand()).end);
    }

    @Override
    protected void writeOutputInMessage(Message message, ExecResult result) {
        // the end is a property of the exchange; nothing goes into the message
    }

    static final class ChildCommand extends ExecCommand {
        @Serial
        private static final long serialVersionUID = 1;

        final transient Child child;
        transient Child.@Nullable End end;

        ChildCommand(Child child) {
            super(
                    child.command().get(0),
                    child.command().subList(1, child.command().size()),
                    child.workingDirectory(),
                    ExecEndpoint.NO_TIMEOUT, // the child has its own
                    Set.of(),
                    null,
                    null,
                    false,
                    LoggingLevel.OFF);
            this.child = child;
        }
    }
}
