package dev.caravan.exec;

import dev.caravan.store.Layout;
import java.util.HashMap;
import java.util.Map;

/** Where children may keep what libraries download: a home may be read-only. What the surroundings name stands. */
final class Caches {
    private Caches() {}

    static Map<String, String> of(Layout.Job job, Map<String, String> surroundings) {
        Map<String, String> caches = new HashMap<>(Map.of(
                "XDG_CACHE_HOME", job.cache().toString(),
                "HF_HOME", job.cache().resolve("huggingface").toString()));
        caches.keySet().removeAll(surroundings.keySet());
        return caches;
    }
}
