package dev.caravan.sim;

import dev.caravan.store.FactsContract;
import dev.caravan.store.SharedDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The model directory, with each call from another client and nothing late, is as good as a disk. */
class ModelFactsContractTest implements FactsContract {
    @Override
    public Facts facts() {
        Path directory = Path.of("/shared/facts");
        ModelDirectory model = new ModelDirectory(System::nanoTime, Lateness.NONE, ModelDirectory.Changes.IGNORED);
        model.makeDirectory(directory);
        return new Facts() {
            /** Each thread is a client. */
            private final ThreadLocal<SharedDirectory> mounts = ThreadLocal.withInitial(
                    () -> model.mount((int) Thread.currentThread().getId(), Network.PERFECT));

            @Override
            public boolean publish(String name, byte[] content) throws IOException {
                return mounts.get().publish(directory.resolve(name), content);
            }

            @Override
            public void replace(String name, byte[] content) throws IOException {
                mounts.get().replace(directory.resolve(name), content);
            }

            @Override
            public byte @Nullable [] readIfPresent(String name) throws IOException {
                return mounts.get().readIfPresent(directory.resolve(name)).orElse(null);
            }

            @Override
            public List<String> names() {
                return model.trueNames(directory);
            }
        };
    }
}
