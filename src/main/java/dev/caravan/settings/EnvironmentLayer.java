package dev.caravan.settings;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Variables such as {@code CARAVAN_CLAIM_LEASE}. */
final class EnvironmentLayer {
    static final String PREFIX = "CARAVAN_";

    /** Read elsewhere: the folder of settings and recipes, the distribution, and the mark of a Ray that an attempt started. */
    private static final Set<String> OTHERS = Set.of("CARAVAN_CONFIGS", "CARAVAN_HOME", "CARAVAN_RAY_DIR");

    /** A Kubernetes service called caravan puts these into every pod; none of them is meant for us. */
    private static final Pattern OF_KUBERNETES =
            Pattern.compile("CARAVAN_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_\\d+_(TCP|UDP|SCTP)(_.+)?)");

    private static final Pattern ADDRESS_OF_KUBERNETES = Pattern.compile("(tcp|udp|sctp)://.*");

    private EnvironmentLayer() {}

    static void apply(Map<String, String> environment, Draft draft) {
        Map<String, String> keys = new TreeMap<>();
        draft.settings().forEach(setting -> keys.put(setting.variable(), setting.key()));
        new TreeMap<>(environment).forEach((name, value) -> {
            String key = keys.get(name);
            if (!name.startsWith(PREFIX) || isNotASetting(name, value)) {
                return;
            }
            if (key == null) {
                draft.problems()
                        .add(where(name), "unknown setting" + Nearest.question(name, List.copyOf(keys.keySet())));
            } else {
                draft.set(key, value, where(name));
            }
        });
    }

    private static boolean isNotASetting(String name, String value) {
        return OTHERS.contains(name)
                || OF_KUBERNETES.matcher(name).matches()
                || (name.endsWith("_PORT")
                        && ADDRESS_OF_KUBERNETES.matcher(value).matches());
    }

    private static String where(String name) {
        return "environment variable " + name;
    }
}
