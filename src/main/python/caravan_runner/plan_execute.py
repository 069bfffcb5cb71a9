"""Engine plan-execute: each line of a shard is an item of plan(), for execute() in long-lived workers on a Ray of its own.

What is done is committed at once, so that no later attempt executes it again.
"""

import hashlib
import json
import os
import signal
import time

from caravan_runner import ray_local, records
from caravan_runner.commit_log import CommitLog
from caravan_runner.crew import Crew, Task
from caravan_runner.outcome import InputMissing
from caravan_runner.poison import FILE as FAILED
from caravan_runner.poison import TooManyFailed
from caravan_runner.ray_folder import log
from caravan_runner.shard import told_to_stop

OUTPUT = "output.jsonl"
TEARDOWN = 5  # seconds


class PlanExecute:
    def __init__(self, on_stop):
        self.on_stop = on_stop
        self.sources = []
        self.ray = None
        self.crew = None

    def process(self, request):
        started = time.monotonic()
        try:
            with open(request["input"], "rb") as f:
                lines = f.read().splitlines()
        except OSError as e:
            raise InputMissing(f"the shard's input {request['input']} cannot be read on this node: {e}") from e
        tasks = [Task(number, json.dumps(item["id"]), item["id"], line)
                 for number, (line, item) in enumerate(((line, json.loads(line)) for line in lines), 1)]
        script = request["execution"]["script"]
        identity = {"engine": request["engine"], "script": script["sha256"], "arguments": script["arguments"]}
        commits = CommitLog.open(request["checkpoints"], request["attempt"], identity)
        try:
            shard = _Shard(request, commits, tasks)
            if shard.open:
                if self.crew is None:
                    self._start(request)
                self.crew.work(shard.open, shard.done)
            shard.write()
        finally:
            commits.close()
        return {
            "ok": True,
            "seconds": {"process": round(time.monotonic() - started, 3)},
            "items": {"ok": len(tasks) - shard.failures, "failed": shard.failures, "committed_before": shard.before},
        }

    def _start(self, request):
        ray_local.prepare_environment()
        import ray

        self.ray = ray_local.LocalRay(request["ray"], warm_up=False)
        self.ray.__enter__()
        signal.signal(signal.SIGTERM, self.on_stop)  # ray.init put its own in place
        workers = request["execution"]["plan_execute"]["workers"] or max(1, int(request["ray"]["num_cpus"]))
        log(f"Ray {ray.__version__} with {workers} workers")
        self.crew = Crew(request, workers, request["ray"].get("num_gpus") or 0)

    def close(self):
        if self.ray is not None:
            started, self.ray = self.ray, None
            try:
                if self.crew is not None and not told_to_stop.is_set():
                    self.crew.dismiss(TEARDOWN)
            finally:
                started.__exit__()


class _Shard:
    """What has become of the items of one shard."""

    def __init__(self, request, commits, tasks):
        self.request, self.commits, self.tasks = request, commits, tasks
        self.rows = {}  # key: (whether it succeeded, bytes)
        earlier = commits.committed()
        for task in tasks:
            if task.key in earlier:
                row, meta = earlier[task.key]
                self.rows[task.key] = meta["ok"], row
        self.before = len(self.rows)
        self.failures = sum(1 for ok, _ in self.rows.values() if not ok)
        self.open = [task for task in tasks if task.key not in self.rows]
        self.told = 0.0
        if self.before:
            log(f"{self.before} of {len(tasks)} items were done by earlier attempts")

    def done(self, finished):
        self.commits.commit_all([(task.key, row, {"ok": ok}) for task, ok, row in finished])
        for task, ok, row in finished:
            self.rows[task.key] = ok, row
            self.failures += not ok
        if self.failures > self.request["max_failed"]:
            self._write_failed()
            raise TooManyFailed(f"{self.failures} items failed, {self.request['max_failed']} may")
        if time.monotonic() - self.told >= 1:
            self.tell()

    def tell(self):
        self.told = time.monotonic()
        log(f"{len(self.rows)} of {len(self.tasks)} items are done, {self.failures} of them failed")

    def write(self):
        self.tell()
        with open(os.path.join(self.request["attempt_dir"], OUTPUT), "wb") as f:
            f.writelines(row + b"\n" for ok, row in (self.rows[task.key] for task in self.tasks) if ok)
        self._write_failed()

    def _write_failed(self):
        failed = [task for task in self.tasks if not self.rows.get(task.key, (True, b""))[0]]
        if failed:
            with open(os.path.join(self.request["attempt_dir"], FAILED), "wb") as f:
                for task in failed:
                    row = {"line": task.number, "sha256": hashlib.sha256(task.line).hexdigest(),
                           **json.loads(self.rows[task.key][1])}
                    f.write(records.dumps(row).encode() + b"\n")
                f.flush()
                os.fsync(f.fileno())
