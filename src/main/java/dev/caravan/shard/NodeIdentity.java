package dev.caravan.shard;

/**
 * Who claims. The id carries a random part: two nodes may share host name and process id (containers), and a restarted
 * node is another node.
 */
public record NodeIdentity(String id, String hostname, long pid) {}
