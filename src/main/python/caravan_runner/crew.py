"""Hands items to workers: an item whose worker was lost is tried again, first with the same worker, then with another."""

from collections import deque

from caravan_runner import outcome
from caravan_runner.ray_folder import log
from caravan_runner.task_worker import Worker, failure

LOST_IN_A_ROW = 3


class WorkersQuarantined(Exception):
    """No worker of this node is fit for work."""

    advice = "see the log for how they ended; another node tries next"


class Task:
    def __init__(self, number, key, item_id, line):
        self.number, self.key, self.item_id, self.line = number, key, item_id, line
        self.lost = 0
        self.seat = None  # where it was tried last


class Seat:
    """A worker's place. The process in it is replaced when it is lost."""

    def __init__(self, request, index, options):
        self.request, self.index, self.options = request, index, options
        self.suspects = []  # the items with which its process was lost, since it last finished one
        self.life = 0
        self.start()

    def start(self):
        import ray

        self.life += 1
        self.ready = False
        self.actor = ray.remote(Worker).options(max_restarts=0, max_task_retries=0, **self.options).remote(
            self.request, self.index)
        self.starting = self.actor.ready.remote()

    def __str__(self):
        return f"worker-{self.index}"


class Crew:
    def __init__(self, request, workers, gpus):
        options = request["execution"]["plan_execute"]
        self.per_worker, self.retries = options["per_worker"], options["retries"]
        placed = {"num_cpus": 0, "num_gpus": gpus / workers if gpus else 0, "max_concurrency": self.per_worker}
        self.seats = [Seat(request, index, placed) for index in range(workers)]
        self.running = {}

    def work(self, tasks, on_done):
        """on_done: called with lists of (task, whether it succeeded, bytes), as soon as they are known."""
        import ray

        waiting, again = deque(tasks), []
        self.running = {seat.starting: (seat, seat.life, None) for seat in self.seats if not seat.ready}
        while waiting or again or any(task for _, _, task in self.running.values()):
            self._hand_out(waiting, again)
            ray.wait(list(self.running), num_returns=1, timeout=10)
            ready, _ = ray.wait(list(self.running), num_returns=len(self.running), timeout=0)
            done = []
            for ref in ready:
                seat, life, task = self.running.pop(ref)
                try:
                    answer = ray.get(ref)
                except Exception as e:
                    done += self._lost(seat, life, task, e, again)
                    continue
                if task is None:
                    seat.ready = True
                else:
                    seat.suspects.clear()
                    done.append((task, *answer))
            if done:
                on_done(done)

    def _hand_out(self, waiting, again):
        for seat in self.seats:
            busy = sum(1 for other, _, task in self.running.values() if other is seat and task)
            while seat.ready and busy < self.per_worker:
                task = self._next(seat, again) or (waiting.popleft() if waiting else None)
                if task is None:
                    break
                task.seat = seat
                self.running[seat.actor.execute.remote(task.line)] = (seat, seat.life, task)
                busy += 1

    def _next(self, seat, again):
        for task in again:
            same = task.seat is seat
            wanted = same if task.lost == 1 else not same
            if wanted or task.seat not in self.seats or len(self.seats) == 1:
                again.remove(task)
                return task
        return None

    def _lost(self, seat, life, task, error, again):
        if not outcome.is_infra(error):
            raise error  # the script itself: it cannot be loaded or set up
        what = outcome.describe(error)
        log(f"{seat} was lost {'with item ' + task.key if task else 'as it started'}: {what}")
        done = []
        if task is not None:
            task.lost += 1
            if task.lost > self.retries:
                done.append((task, False, failure(task.item_id, "infra", outcome.culprit(error, ()))))
            else:
                again.append(task)
        if life == seat.life and seat in self.seats:
            seat.suspects.append(task.key if task else None)
            if len(set(seat.suspects)) >= LOST_IN_A_ROW or seat.suspects.count(None) >= LOST_IN_A_ROW:
                self._quarantine(seat, what)
            elif task is None or _is_dead(error):
                seat.start()
                self.running[seat.starting] = (seat, seat.life, None)
        return done

    def _quarantine(self, seat, what):
        import ray

        self.seats.remove(seat)
        log(f"QUARANTINE: {seat} was lost {len(seat.suspects)} times in a row, the last time with {what}; it gets no more "
            f"work, {len(self.seats)} workers are left")
        ray.kill(seat.actor)
        if not self.seats:
            raise WorkersQuarantined(f"all workers are in quarantine, the last was lost with: {what}")

    def dismiss(self, patience):
        """Lets workers take their leave."""
        import ray

        leaving = [seat.actor.teardown.remote() for seat in self.seats if seat.ready]
        _, late = ray.wait(leaving, num_returns=len(leaving), timeout=patience) if leaving else ((), ())
        if late:
            log(f"{len(late)} workers did not end their teardown_worker within {patience} s")


def _is_dead(error):
    return any(type(e).__name__ in ("ActorDiedError", "RayActorError", "WorkerCrashedError", "OutOfMemoryError")
               for e in outcome.chain(error))
