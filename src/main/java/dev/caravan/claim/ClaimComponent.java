package dev.caravan.claim;

import java.util.Map;
import org.apache.camel.Endpoint;
import org.apache.camel.support.DefaultComponent;

/** {@code claim:NAME?source=#bean}: consumes work by taking leases. One lease is one exchange. */
public final class ClaimComponent extends DefaultComponent {
    @Override
    protected Endpoint createEndpoint(String uri, String remaining, Map<String, Object> parameters) throws Exception {
        ClaimEndpoint endpoint = new ClaimEndpoint(uri, this);
        setProperties(endpoint, parameters);
        return endpoint;
    }
}
