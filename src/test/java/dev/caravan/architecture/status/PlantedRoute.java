package dev.caravan.architecture.status;

import org.apache.camel.builder.RouteBuilder;

/** A violation: a route outside the stages. */
public final class PlantedRoute extends RouteBuilder {
    @Override
    public void configure() {
        from("timer:planted").to("log:planted");
    }
}
