package dev.caravan.claim;

import java.util.Map;
import org.apache.camel.Endpoint;
import org.apache.camel.support.CamelContextHelper;
import org.apache.camel.support.DefaultComponent;

/** {@code claim:NAME?source=#bean}: consumes work by taking leases. One lease is one exchange. */
public final class ClaimComponent extends DefaultComponent {
    @Override
    protected Endpoint createEndpoint(String uri, String remaining, Map<String, Object> parameters) throws Exception {
        ClaimEndpoint endpoint = new ClaimEndpoint(uri, this);
        String delay = getAndRemoveParameter(parameters, "delay", String.class);
        if (delay != null) { // reflection alone would not understand "2s"
            endpoint.setDelay(
                    CamelContextHelper.parseDuration(getCamelContext(), delay).toMillis());
        }
        setProperties(endpoint, parameters);
        return endpoint;
    }
}
