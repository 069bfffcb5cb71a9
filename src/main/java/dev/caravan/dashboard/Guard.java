package dev.caravan.dashboard;

import dev.caravan.settings.Loopback;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who may do what. Whoever sends the token may do all. Without it one may look at things on a server that this machine
 * alone can reach, and nothing else; the page itself and the health are for all.
 */
public final class Guard {
    private static final Set<String> FOR_ALL =
            Set.of("/", "/dashboard.css", "/dashboard.js", "/health/live", "/health/ready");
    private static final String SCHEME = "Bearer ";

    private final boolean loopback;
    private final String token;

    /** @param token empty for a random one */
    public Guard(String host, String token) {
        this.loopback = Loopback.is(host);
        this.token = token.isEmpty() ? randomToken() : token;
    }

    private static String randomToken() {
        byte[] random = new byte[16];
        new SecureRandom().nextBytes(random);
        return HexFormat.of().formatHex(random);
    }

    public String token() {
        return token;
    }

    /**
     * @param host the name that the client used
     * @param authorization the header of that name
     * @throws Refusal if this may not be asked
     */
    void check(String method, String path, @Nullable String host, @Nullable String authorization) {
        if (loopback && host != null && !Loopback.is(name(host))) {
            // a page elsewhere may give this address a name of its own and read through the browser
            throw new Refusal(403, "this server answers to localhost alone, not to " + host);
        }
        boolean looks = method.equals("GET") || method.equals("HEAD");
        if (looks && (loopback || FOR_ALL.contains(path)) || isToken(authorization)) {
            return;
        }
        throw new Refusal(
                401,
                "this needs the token (http.token, or what the node logged at its start) as 'Authorization: Bearer'");
    }

    private boolean isToken(@Nullable String authorization) {
        return authorization != null
                && authorization.startsWith(SCHEME)
                && MessageDigest.isEqual(
                        authorization.substring(SCHEME.length()).getBytes(StandardCharsets.UTF_8),
                        token.getBytes(StandardCharsets.UTF_8));
    }

    /** Of a Host header, where a port may follow and an IPv6 address stands in brackets. */
    private static String name(String host) {
        return host.replaceFirst(":\\d+$", "").replaceFirst("^\\[(.*)]$", "$1");
    }
}
