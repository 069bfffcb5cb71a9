package dev.caravan.sim;

import dev.caravan.store.LeaseStore;
import dev.caravan.store.LeaseStoreContract;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

class ModelLeaseStoreContractTest implements LeaseStoreContract {
    private static final Path LOCKS = Path.of("/shared/locks");

    private final AtomicInteger clients = new AtomicInteger();
    private final ModelDirectory model =
            new ModelDirectory(System::nanoTime, Lateness.NONE, ModelDirectory.Changes.IGNORED);

    ModelLeaseStoreContractTest() {
        model.makeDirectory(LOCKS);
    }

    @Override
    public LeaseStore open() {
        return new LeaseStore(model.mount(clients.incrementAndGet(), Network.PERFECT), LOCKS);
    }
}
