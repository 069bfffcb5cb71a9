"""Engine mini-batch: an entry script with init(), run(mini_batch) and shutdown() in long-lived processes of a node."""
