"""The processes of a node that hold the entry script. One that ended or took too long is replaced, and its GPU freed."""

import os
import signal
import time
from collections import deque

from caravan_runner.mini_batch.logs import address
from caravan_runner.ray_folder import RayStartError

START_SECONDS = 300  # a machine that starts many at once is slow
SHUTDOWN_SECONDS = 5
LONGEST_WAIT = 1.0
STARTING, INIT, IDLE, LOADING, RUNNING = "starting", "init", "idle", "loading", "running"


class InitFailed(Exception):
    """The entry script does not come to the point where it could run."""

    advice = "correct the entry script; logs/user/error of the job tells all of it"


class Process:
    def __init__(self, name, device, settings):
        import ray

        from caravan_runner.mini_batch.worker import Worker

        self.name, self.device, self.pid = name, device, None
        self.unit = self.items = self.given = None  # of the mini-batch at hand
        options = {"num_cpus": 0, "max_restarts": 0, "max_task_retries": 0}
        self.actor = ray.remote(Worker).options(**options).remote(settings, name, device or "")
        self.expect(STARTING, self.actor.ready.remote(), START_SECONDS)

    def expect(self, state, answer=None, seconds=None):
        self.state, self.answer, self.since = state, answer, time.monotonic()
        self.deadline = None if seconds is None else self.since + seconds

    def kill(self):
        """It is gone on return, and so is what it held of a GPU."""
        import ray

        ray.kill(self.actor)
        while self.pid is not None and os.path.exists(f"/proc/{self.pid}"):
            try:
                os.kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                break
            time.sleep(0.01)


class Pool:
    def __init__(self, settings, logs, devices):
        self.settings, self.logs = settings, logs
        self.free_devices = deque(devices)
        self.processes = []
        self.started = 0
        self.init_failures = 0  # since init() last succeeded
        self.init_error = None

    @property
    def size(self):
        return self.settings["processes"]

    def fill(self, wanted):
        """Starts processes until there are as many as are wanted, at most as many as the job asks for."""
        hopeless = self.init_failures >= 3 * self.size
        if hopeless and not self.processes:
            raise InitFailed(f"init failed {self.init_failures} times in a row on this node, the last time with {self.init_error}")
        while len(self.processes) < min(self.size, wanted) and not hopeless:
            device = self.free_devices.popleft() if self.free_devices else None
            self.processes.append(Process(self.logs.new_process(), device, self.settings))
            self.started += 1

    def idle(self):
        return [p for p in self.processes if p.state == IDLE]

    def give(self, process, unit):
        process.unit, process.items, process.given = unit, None, time.monotonic()
        process.expect(LOADING, process.actor.load.remote(unit), self.settings["task_overhead_timeout"])

    def turn(self):
        """Waits until something happens, for a moment. Yields (unit, answer, process) of each mini-batch that ended."""
        import ray

        waiting = {p.answer: p for p in self.processes if p.answer is not None}
        now = time.monotonic()
        nearest = min([p.deadline - now for p in waiting.values() if p.deadline is not None], default=LONGEST_WAIT)
        ready, _ = ray.wait(list(waiting), timeout=max(0, min(nearest, LONGEST_WAIT)))
        for answer in ready:
            yield from self._answered(waiting[answer])
        for process in [p for p in self.processes if p.answer not in ready]:
            if process.deadline is not None and time.monotonic() >= process.deadline:
                yield from self._late(process)
        self._check_stuck()

    def _answered(self, process):
        import ray

        try:
            answer = ray.get(process.answer)
        except ray.exceptions.RayError as e:
            yield from self._ended(process, e)
            return
        if process.state == STARTING:
            process.pid = answer
            self.logs.process(process.name, state="started", ip=address(), pid=answer, gpu=process.device or "none")
            process.expect(INIT, process.actor.init.remote())
        elif process.state == INIT and answer["status"] == "ok":
            self.init_failures = 0
            self.logs.process(process.name, state="ready", init_seconds=time.monotonic() - process.since)
            process.expect(IDLE)
        elif process.state == INIT:
            self._init_failed(process, answer)
            self._stop(process)
        elif process.state == LOADING and answer["status"] == "ok":
            process.items = answer["items"]
            process.expect(RUNNING, process.actor.run.remote(), self.settings["run_invocation_timeout"])
        else:
            yield self._over(process, answer)
            process.expect(IDLE)

    def _over(self, process, answer):
        unit, process.unit = process.unit, None
        return unit, {"items": process.items, "seconds": time.monotonic() - process.given, **answer}, process

    def _ended(self, process, error):
        """By itself or by the kernel."""
        text = f"process {process.name} (pid {process.pid}) ended by itself: out of memory, a crash, or an exit of the script"
        self.logs.system_error(f"{text}: {error}")
        if process.state == STARTING:
            raise RayStartError(f"a process of the entry script could not be started: {error}")
        yield from self._gone(process, text, "ProcessEnded")

    def _late(self, process):
        if process.state == STARTING:
            raise RayStartError(f"a process of the entry script did not start within {START_SECONDS} s")
        limit = "task_overhead_timeout" if process.state == LOADING else "run_invocation_timeout"
        text = f"process {process.name} was ended: {process.state} took longer than {limit} ({self.settings[limit]:g} s)"
        self.logs.system_error(text)
        yield from self._gone(process, text, "TimeoutError")

    def _gone(self, process, text, kind):
        answer = {"status": "failed", "error": f"{kind}: {text}", "error_class": kind, "stack_sha256": None, "stack": None}
        if process.unit is not None:
            yield self._over(process, answer)
        elif process.state == INIT:
            self._init_failed(process, answer)
        self._stop(process)

    def _init_failed(self, process, answer):
        self.init_failures += 1
        self.init_error = answer["error"]
        self.logs.error(process.name, "init()", answer["error"], answer["stack"])

    def _check_stuck(self):
        limit = 3 * self.settings["run_invocation_timeout"] + 30
        if self.processes and all(p.state == INIT and time.monotonic() - p.since > limit for p in self.processes):
            raise InitFailed(f"all {len(self.processes)} processes are in init() for more than {limit:g} s "
                             "(3 * run_invocation_timeout + 30 s)")

    def _stop(self, process):
        self.processes.remove(process)
        process.kill()
        self.logs.process(process.name, state="ended")
        if process.device is not None:
            self.free_devices.appendleft(process.device)

    def close(self):
        """Lets the script shut down."""
        import ray

        last = [p.actor.shutdown.remote() for p in self.idle()]
        if last:
            ray.wait(last, num_returns=len(last), timeout=SHUTDOWN_SECONDS)
        for process in list(self.processes):
            self._stop(process)
