package dev.caravan.exec;

import dev.caravan.shard.GpuDemand;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The node's slots, each with the GPUs of the claim that is in it, and the claims made ahead that wait for one. A place is
 * taken before a claim is made, so that no claim waits for devices that this node may never have free. Thread-safe.
 */
public final class Slots {
    private final int count;
    private final int prefetch;
    private final Gpus gpus;
    private final List<Place> inSlots = new ArrayList<>();
    private final Deque<Place> waiting = new ArrayDeque<>();
    private final Map<String, Place> byToken = new ConcurrentHashMap<>();
    private boolean closed;

    /** @param prefetch how many claims may wait */
    public Slots(int count, int prefetch, Gpus gpus) {
        this.count = count;
        this.prefetch = prefetch;
        this.gpus = gpus;
    }

    /** Of one claim: a slot and its devices, or the right to the next ones. */
    public static final class Place {
        private final GpuDemand demand;
        /** Decides once whether the claim gets its slot or is given back. */
        private final CompletableFuture<Gpus.Grant> granted = new CompletableFuture<>();

        private Place(GpuDemand demand) {
            this.demand = demand;
        }
    }

    int count() {
        return count;
    }

    public synchronized int inUse() {
        return inSlots.size();
    }

    /** Waits until a claim could be given a place, as far as their number tells; not once closed. */
    public synchronized void awaitRoom() throws InterruptedException {
        while (!closed && inSlots.size() >= count && waiting.size() >= prefetch) {
            wait();
        }
    }

    /** A free slot with the devices. */
    public synchronized Optional<Place> take(GpuDemand demand) {
        Place place = new Place(demand);
        return enter(place) ? Optional.of(place) : Optional.empty();
    }

    /**
     * A place behind those in the slots. They must all have what it asks for: then the first one to leave makes room for
     * it, whichever that is, and it never waits longer than a shard takes. And they must have their claims: a claim that
     * waits is not to take a shard from one that could begin.
     */
    public synchronized Optional<Place> takeAhead(GpuDemand demand) {
        boolean follows = !inSlots.isEmpty()
                && byToken.values().containsAll(inSlots)
                && inSlots.stream().allMatch(place -> place.demand.equals(demand));
        if (closed || !follows || waiting.size() >= prefetch) {
            return Optional.empty();
        }
        Place place = new Place(demand);
        waiting.add(place);
        return Optional.of(place);
    }

    private boolean enter(Place place) {
        Optional<Gpus.Grant> grant = inSlots.size() < count ? gpus.take(place.demand) : Optional.empty();
        if (grant.isEmpty()) {
            return false;
        }
        if (place.granted.complete(grant.get())) {
            inSlots.add(place);
        } else {
            gpus.giveBack(grant.get());
        }
        return true;
    }

    /** From now on the place is that of the claim with this token. */
    public void assign(String token, Place place) {
        byToken.put(token, place);
    }

    /** Whether the claim was made ahead and has no slot yet. */
    public boolean isWaiting(String token) {
        Place place = byToken.get(token);
        return place != null && !place.granted.isDone();
    }

    /** Waits until the claim has its slot. @throws GivenBack if it is not to have it any more */
    Gpus.Grant await(String token) {
        Place place = Objects.requireNonNull(byToken.get(token), "every claim has a place");
        try {
            return place.granted.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof GivenBack why ? why : e;
        }
    }

    /** @throws GivenBack if the claim is not to have its slot any more */
    void requireWanted(String token) {
        Place place = byToken.get(token);
        if (place != null && place.granted.isCompletedExceptionally()) {
            await(token);
        }
    }

    /** Sends a claim away that waits; one that is in its slot stays. */
    public void giveBack(String token, String why) {
        Place place = byToken.get(token);
        if (place != null) {
            place.granted.completeExceptionally(new GivenBack(why));
        }
    }

    /** The claim needs its slot no more, and whoever waits gets it. Idempotent. */
    public void leave(String token) {
        Place place = byToken.remove(token);
        if (place != null) {
            leave(place);
        }
    }

    /** For a place that was assigned to no claim. */
    public synchronized void leave(Place place) {
        waiting.remove(place);
        if (inSlots.remove(place)) {
            gpus.giveBack(place.granted.join());
        }
        for (Iterator<Place> next = waiting.iterator(); next.hasNext() && enter(next.next()); ) {
            next.remove();
        }
        notifyAll();
    }

    /** Nobody waits any more. */
    public synchronized void close(String why) {
        closed = true;
        waiting.forEach(place -> place.granted.completeExceptionally(new GivenBack(why)));
        notifyAll();
    }
}
