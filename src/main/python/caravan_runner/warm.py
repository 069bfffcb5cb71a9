"""The engine that stays warm: one Ray, Data-Juicer imported once, operators in actors that outlive shards.

A shard's lines go to the actors in portions and come back in input order, whichever actor is done first. CPU operators
that follow each other share an actor; operators that need a GPU or ask to be actors have actors of their own, as many as
Data-Juicer would start (`num_proc`, or what its own planning says).
"""

import contextlib
import hashlib
import os
import signal
import time
from collections import deque

from caravan_runner import chain, compat, followable, outcome, ray_local, speed
from caravan_runner import data_juicer_engine as cold
from caravan_runner.checkpoint import Checkpoint, add_counts
from caravan_runner.outcome import InputMissing
from caravan_runner.poison import Poison
from caravan_runner.ray_folder import log

PORTION_BYTES = 8 << 20
FEW_ROWS = 32  # of a job with a checkpoint: a portion is the least that can be committed, and its records are costly
AHEAD = 2  # portions on their way for each actor of a stage


class OtherRecipe(Exception):
    """The runner holds the operators of another recipe, or another Ray than the one asked for."""


class NeedsColdEngine(Exception):
    """The recipe cannot be run by operators alone."""


class WarmEngine:
    def __init__(self, on_stop):
        self.on_stop = on_stop
        self.identity = None
        self.ray = None
        self.stages = []
        self.sources = []
        self.shards = 0
        self.seconds = {}

    def process(self, request):
        """Returns the outcome of a success; raises for anything else, NeedsColdEngine among it."""
        with Checkpoint(request) if request.get("checkpoint") else contextlib.nullcontext() as checkpoint:
            return self._process(request, checkpoint)

    def _process(self, request, checkpoint):
        if not os.access(request["input"], os.R_OK) or not os.path.isfile(request["input"]):
            raise InputMissing(f"the shard's input {request['input']} cannot be read on this node")
        identity = _identity(request)
        self.seconds = {}
        if self.identity is None:
            self.identity = identity
            self._start(request)
        elif identity != self.identity:
            raise OtherRecipe("this runner was started for another recipe or another Ray; a new one is needed")
        self.shards += 1
        began = time.monotonic()
        counts = self._run(request, checkpoint)
        return {
            "ok": True,
            "seconds": {**self.seconds, "process": round(time.monotonic() - began, 3)},
            "ray": {"address": request["ray"]["address"], "num_cpus": self.cpus, "num_gpus": self.gpus},
            **({} if checkpoint is None else {"checkpoint": checkpoint.told()}),
            "warm": {
                "shard": self.shards,
                "actors": sum(len(stage.actors) for stage in self.stages),
                "constructed": self._constructions(),
            },
            "operators": [{"name": n, "rows_in": i, "rows_out": o} for n, i, o in counts],
        }

    def _start(self, request):
        started = time.monotonic()
        custom = cold.custom_operator_paths(request["recipe"], request.get("recipe_dir"))
        compat.forbid_installation()
        own = request["ray"]["address"] != "auto"
        if own:
            ray_local.prepare_environment()
        import ray

        imported = time.monotonic()
        self.ray = ray_local.LocalRay(request["ray"], custom, warm_up=False) if own else ray_local.RunningRay(custom)
        self.ray.__enter__()
        signal.signal(signal.SIGTERM, self.on_stop)  # ray.init put its own in place
        ray_ready = time.monotonic()
        import data_juicer.ops  # noqa: F401

        dj_imported = time.monotonic()
        have = ray.cluster_resources()
        self.cpus, self.gpus = have.get("CPU", 0), have.get("GPU", 0)
        log(f"Ray {ray.__version__} ({request['ray']['address']}) has {self.cpus:g} CPUs and {self.gpus:g} GPUs")
        compat.accept_restricted_numbers()
        speed.prepare(own)
        os.makedirs(os.path.join(request["attempt_dir"], "work", cold.job_id(request["attempt_dir"])), exist_ok=True)
        cfg = cold.parse(cold.arguments(request, custom))
        self.sources += cold.operator_sources(cfg.process, custom)
        _check_arguments(cfg)
        cold.tell_errors(cfg, request)
        cold.check_recipe_resources(cfg.process, self.cpus, self.gpus)
        why = followable.obstacle(cfg)
        if why:
            raise NeedsColdEngine(why)
        id_column = _id_column(request)
        self.stages = self._stages(cfg, custom, id_column)
        batches = [size for stage in self.stages for size in stage.batch_sizes()]
        if id_column is None:
            self.portion_rows = max([chain.TABLE_ROWS, *batches])
        else:  # records stand alone: only who asks for a batch of some size gets it
            self.portion_rows = max([FEW_ROWS, *(size for size in batches if size != chain.TABLE_ROWS)])
        self.seconds = {
            "import": round(imported - started + dj_imported - ray_ready, 3),
            "ray_start": round(ray_ready - imported, 3),
            "operators": round(time.monotonic() - dj_imported, 3),
        }

    def _stages(self, cfg, custom, id_column):
        process = cfg.process
        alone = [_asks_for_actors(entry) for entry in process]
        plans = {}
        if any(alone):
            plans = _planned(process, cfg, self.cpus, self.gpus)
        parts = []
        for i, entry in enumerate(process):
            own = plans.get(i)
            if own or not parts or parts[-1][1]:
                parts.append(([], own))
            parts[-1][0].append(entry)
        wanted = followable.wanted_keys(process)
        log("operators get " + ("whole records" if wanted is None else "only the keys that they name"))
        hidden = cold.hidden_columns(cfg)
        stages = []
        for i, (entries, own) in enumerate(parts):
            arguments = (entries, custom, wanted, hidden, i == len(parts) - 1, id_column)
            size = own["actors"] if own else max(1, int(self.cpus // _most_cpus(entries)))
            stages.append(_Actors(arguments, size, own["options"] if own else {"num_cpus": 0}))
        return stages

    def _run(self, request, checkpoint):
        import ray

        output = os.path.join(request["attempt_dir"], cold.EXPORT)
        produced = request.get("produced") or os.environ.get("DJ_PRODUCED_DATA_DIR") or os.path.join(request["attempt_dir"], "produced")
        totals, waiting = [], deque()
        poison = None
        if request.get("max_failed") is not None:
            poison = Poison(request["attempt_dir"], request["max_failed"], self.sources)

        def through(number, data):
            result = None
            shared = ray.put(data) if len(self.stages) > 1 else data
            for stage in self.stages:
                result = stage.at(number).run.remote(shared, result, produced)
            return result

        def take(f):
            number, first, lines, result = waiting.popleft()
            before = 0 if poison is None else len(poison.failed)
            try:
                data, counts = ray.get(result)
                if poison is not None:
                    poison.any_passed = True
            except Exception as e:
                if poison is None or any(isinstance(c, chain.CannotFollow) for c in outcome.chain(e)):
                    raise
                data, counts = poison.without(lines, first, lambda some: ray.get(through(number, b"".join(some))), e)
            f.write(data)
            add_counts(totals, counts)
            if checkpoint is not None:
                checkpoint.add(lines, data, counts, [] if poison is None else poison.failed[before:])

        with open(request["input"], "rb") as source, open(output, "wb") as f:
            first = 1
            if checkpoint is not None:
                for counts, failed in checkpoint.restore(f):
                    add_counts(totals, counts)
                    if poison is not None:
                        poison.restore(failed)
                source.seek(checkpoint.start)
                first += checkpoint.rows
            for number, lines in enumerate(_portions(source, self.portion_rows)):
                waiting.append((number, first, lines, through(number, b"".join(lines))))
                first += len(lines)
                if len(waiting) >= AHEAD * max(len(stage.actors) for stage in self.stages):
                    take(f)
            while waiting:
                take(f)
            if checkpoint is not None:
                checkpoint.commit()
        if poison is not None:
            poison.end(first - 1)
        return totals

    def _constructions(self):
        import ray

        return [count for stage in self.stages for count in ray.get([a.constructions.remote() for a in stage.actors])]

    def close(self):
        if self.ray is not None:
            started, self.ray = self.ray, None
            started.__exit__()


class _Actors:
    """Of one stage. A second actor and further ones are made once a shard has work for them."""

    def __init__(self, arguments, size, options):
        self.arguments, self.size, self.options = arguments, size, options
        self.actors = [self._new()]

    def _new(self):
        import ray

        return ray.remote(chain.Stage).options(max_restarts=0, max_task_retries=0, **self.options).remote(*self.arguments)

    def at(self, number):
        place = number % self.size
        while len(self.actors) <= place:
            self.actors.append(self._new())
        return self.actors[place]

    def batch_sizes(self):
        import ray

        return ray.get(self.actors[0].ready.remote())


def _identity(request):
    with open(request["recipe"], "rb") as f:
        recipe = hashlib.sha256(f.read()).hexdigest()
    ray = request["ray"]
    return recipe, request.get("recipe_dir"), _id_column(request), ray.get("num_cpus"), ray.get("num_gpus"), ray.get("object_store_memory")


def _id_column(request):
    return request["checkpoint"]["identity"]["id_column"] if request.get("checkpoint") else None


def _portions(source, rows):
    lines, size = [], 0
    for line in source:
        lines.append(line)
        size += len(line)
        if len(lines) >= rows or size >= PORTION_BYTES:
            yield lines
            lines, size = [], 0
    if lines:
        yield lines


def _check_arguments(cfg):
    """Data-Juicer's own check before it builds operators, as its executor does it."""
    if cfg.get("strict_preflight", True):
        from data_juicer.core.preflight import pre_instantiation_check

        pre_instantiation_check(cfg.process)


def _asks_for_actors(entry):
    from data_juicer.ops import OPERATORS

    name, args = next(iter(entry.items()))
    args = args or {}
    return bool(
        args.get("ray_execution_mode") == "actor" or args.get("num_gpus") or args.get("gpu_required")
        or "cuda" in (args.get("accelerator"), OPERATORS.modules[name]._accelerator))


def _most_cpus(entries):
    return max(max(1, (args or {}).get("num_cpus") or (args or {}).get("cpu_required") or 1) for e in entries for args in e.values())


def _planned(process, cfg, cpus, gpus):
    """{index: actors and what each of them asks for} of the operators that Data-Juicer gives a GPU or actors of their
    own. It builds all operators for that, here as there; the actors build theirs themselves."""
    from data_juicer.ops import load_ops
    from data_juicer.utils.process_utils import calculate_ray_np

    operators = load_ops(process)
    if cfg.get("auto_op_parallelism", True):
        calculate_ray_np(operators)
    cold.check_resources(operators, cpus, gpus)
    plans = {}
    for i, op in enumerate(operators):
        if op.use_ray_actor() or op.num_gpus:
            least = op.num_proc[0] if isinstance(op.num_proc, (list, tuple)) else op.num_proc
            if not op.use_ray_actor():  # tasks come one operator after the other; here all of them stay
                least = min(least or 1, max(1, int(gpus // op.num_gpus)))
            cores = op.num_cpus if op.num_cpus is not None else (1 if op.use_ray_actor() else 0)
            plans[i] = {"actors": max(1, least or 1), "options": {"num_cpus": cores, "num_gpus": op.num_gpus or 0}}
    return plans
