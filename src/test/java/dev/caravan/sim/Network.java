package dev.caravan.sim;

import java.io.IOException;
import java.nio.file.Path;

/** The way from one client to the server and back: takes time, loses things, and is where a client dies. */
interface Network {
    Network PERFECT = new Network() {
        @Override
        public void ask(Op op, Path path) {}

        @Override
        public Answer answer(Op op, Path path) {
            return Answer.ARRIVES;
        }
    };

    enum Answer {
        ARRIVES,
        /** The client asks again and learns that the name exists: its own work of a moment ago. */
        ASKED_AGAIN
    }

    /** Before the operation takes effect; an error means that it does not. */
    void ask(Op op, Path path) throws IOException;

    /** After it took effect; an error hides that it did. */
    Answer answer(Op op, Path path) throws IOException;
}
