package dev.caravan.sim;

/** What the protocol promises; the simulation checks each at every event that could break it. */
enum Promise {
    ONE_LIVE_OWNER("a shard has at most one live owner in each epoch"),
    NAMES_ARE_MADE_ONCE("the name of a lock is made once and never removed"),
    EPOCHS_GROW("epochs of a shard grow by one"),
    TAKEOVER_FROM_THE_DEAD("an epoch follows only one that ended without success or whose owner is dead or fenced"),
    OWNERS_END_THEIR_CLAIMS("a claim is ended by its owner and by nobody else"),
    SECOND_ATTEMPTS_COME_LAST("a second attempt begins only once every shard has been claimed"),
    DONE_STANDS("a done record never changes and never vanishes"),
    FENCED_OWNERS_ARE_SILENT("an owner that is fenced publishes nothing"),
    BUDGETS_ARE_SEPARATE("a failure is charged to its own class, and the loss of a node to no other than infra"),
    BUDGETS_ARE_KEPT("a shard is tried as often as its budgets allow, and fails for good only when one is used up"),
    TAKEOVER_IN_TIME("a dead node's shard is taken over within two leases while somebody is idle"),
    NOBODY_IS_IDLE_FOR_LACK_OF_WHAT_WAITS("no shard waits long for its turn on one node while another node is idle"),
    EVERY_SHARD_ENDS("every shard is done or failed in bounded time once the faults stop"),
    EVERYBODY_KNOWS("every node sees within a short time that all shards have ended, and done outranks failed");

    private final String sentence;

    Promise(String sentence) {
        this.sentence = sentence;
    }

    @Override
    public String toString() {
        return name() + " (" + sentence + ")";
    }
}
