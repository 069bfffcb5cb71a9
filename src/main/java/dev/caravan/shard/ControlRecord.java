package dev.caravan.shard;

/** Who paused or cancelled a job, and when. That the file is there is what counts; what it says is for people. */
public record ControlRecord(String by, String hostname, String at) {}
