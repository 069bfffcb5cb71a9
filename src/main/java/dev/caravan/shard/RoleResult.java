package dev.caravan.shard;

import org.jspecify.annotations.Nullable;

/**
 * How a role of one generation ended: published once, read by all nodes, so that all end with the same result.
 *
 * @param error what went wrong, null if nothing did
 */
public record RoleResult(
        boolean ok,
        String node,
        String hostname,
        String endedAt,
        @Nullable String error) {}
