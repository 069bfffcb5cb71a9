"""Works through shards whose records are mini-batches, with processes that stay from shard to shard."""

import hashlib
import os
import signal
import time

from caravan_runner import ray_local
from caravan_runner.commit_log import CommitLog
from caravan_runner.mini_batch.logs import Logs
from caravan_runner.mini_batch.monitor import Monitor
from caravan_runner.mini_batch.pool import Pool
from caravan_runner.mini_batch.shard_work import ShardWork
from caravan_runner.outcome import InputMissing
from caravan_runner.ray_folder import log

DEVICES = os.environ.get("CUDA_VISIBLE_DEVICES", "")  # of this attempt, before Ray has its own idea of it


class MiniBatchEngine:
    def __init__(self, on_stop):
        self.on_stop = on_stop
        self.ray = self.processes = None
        self.sources = []

    def process(self, request):
        """Returns the outcome of a success; raises for anything else."""
        for path in (request["input"], *request["mini_batch"]["side_inputs"]):
            if not os.access(path, os.R_OK):
                raise InputMissing(f"{path} cannot be read on this node: the job needs it")
        self._start(request)
        if self.processes is None or not self.processes.are_for(request):
            self._end_processes()
            self.processes = Processes(request)
        began = time.monotonic()
        commits = CommitLog.open(request["commits"], os.path.basename(request["attempt_dir"]), _facts(request))
        try:
            counts = ShardWork(request, self.processes.pool, self.processes.logs, commits).run()
        except BaseException:
            self._end_processes()
            raise
        finally:
            commits.close()
        return {"ok": True, "seconds": {"process": round(time.monotonic() - began, 3)},
                "ray": {"address": request["ray"]["address"]}, "mini_batches": counts}

    def _start(self, request):
        if self.ray is None:
            ray_local.prepare_environment()
            self.ray = ray_local.LocalRay(request["ray"], warm_up=False)
            self.ray.__enter__()
            signal.signal(signal.SIGTERM, self.on_stop)  # ray.init put its own in place

    def _end_processes(self):
        if self.processes is not None:
            ended, self.processes = self.processes, None
            ended.close()

    def close(self):
        if self.ray is not None:
            try:
                self._end_processes()
            finally:
                started, self.ray = self.ray, None
                started.__exit__()


class Processes:
    """Of one script with one set of settings, and what is written about them."""

    def __init__(self, request):
        settings = self.settings = _lasting(request)
        devices = [d for d in DEVICES.split(",") if d]
        cpus = request["ray"].get("num_cpus") or ray_local.usable_cpus()
        count = settings.get("process_count_per_node") or (1 if devices else max(1, int(cpus)))
        log(f"{count} processes for the entry script, {len(devices)} GPUs")
        self.logs = Logs(settings["logs"], settings["node"])
        self.monitor = Monitor(os.path.join(settings["logs"], "perf", settings["node"]), settings["resource_monitor_interval"])
        self.pool = Pool({**settings, "processes": count, "gpus": len(devices)}, self.logs, devices)

    def are_for(self, request):
        return self.settings == _lasting(request)

    def close(self):
        self.monitor.close()
        self.pool.close()


def _lasting(request):
    """What does not change from shard to shard of a job."""
    return {**request["mini_batch"], **{key: request[key] for key in ("script", "source", "logs", "node", "output_dir")}}


def _facts(request):
    """What must be the same for a mini-batch to be done already."""
    return {"engine": "mini-batch", "script": _sha256(request["script"]), "arguments": request["source"]["arguments"],
            "output_action": request["mini_batch"]["output_action"], "mini_batches": _sha256(request["input"])}


def _sha256(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()
