/** One attempt of one shard: an isolated directory, a child process of its own session, a validated result, a record. */
@NullMarked
package dev.caravan.exec;

import org.jspecify.annotations.NullMarked;
