"""Runs Data-Juicer 1.6.1's RayExecutor on one shard, as dj-process does, with everything per attempt overridden."""

import contextlib
import io
import os
import signal
import sys
import time

import yaml

from caravan_runner import carry, chain, compat, followable, ray_local, speed
from caravan_runner.outcome import InputMissing, NotEnoughResources

EXPORT = "ray-output.jsonl"


class RecipeError(Exception):
    """Data-Juicer's parser refuses the recipe."""

    advice = "correct the recipe; `caravan recipe check` shows every problem at once"


def custom_operator_paths(recipe, folder=None):
    """Absolute paths; the recipe's folder, or the one it was copied from, is what relative ones are relative to."""
    with open(recipe, encoding="utf-8") as f:
        paths = (yaml.safe_load(f) or {}).get("custom_operator_paths") or []
    folder = folder or os.path.dirname(os.path.abspath(recipe))
    return [os.path.normpath(os.path.join(folder, os.path.expanduser(p))) for p in paths]


def arguments(request, custom_paths, data=None):
    """The command line that dj-process would be given. The job id names this attempt in Data-Juicer's own logs."""
    attempt_dir = request["attempt_dir"]
    job = job_id(attempt_dir)
    args = [
        "--config", request["recipe"],
        "--dataset_path", data or request["input"],
        "--export_path", os.path.join(attempt_dir, EXPORT),
        "--export_type", "jsonl",
        "--executor_type", "ray",
        "--ray_address", request["ray"]["address"],
        "--work_dir", os.path.join(attempt_dir, "work"),
        "--job_id", job,
        "--event_log_dir", os.path.join(attempt_dir, "logs"),
        "--checkpoint_dir", os.path.join(attempt_dir, "checkpoints"),
        "--partition_dir", os.path.join(attempt_dir, "partitions"),
    ]
    return args + (["--custom-operator-paths", *custom_paths] if custom_paths else [])


def job_id(attempt_dir):
    return os.path.basename(attempt_dir.rstrip("/")) or "attempt"


class _Tee(io.StringIO):
    def write(self, text):
        sys.__stderr__.write(text)
        return super().write(text)


def parse(args):
    """init_configs ends the process on a bad recipe, with the reason on stderr: here that becomes an error."""
    from data_juicer.config import config, init_configs

    if hasattr(config, "display_config"):
        config.display_config = lambda cfg: None  # 300 lines in the log of each shard; cli.yaml and the recipe are kept
    said = _Tee()
    try:
        with contextlib.redirect_stderr(said):
            return init_configs(args)
    except SystemExit as e:
        lines = [line.strip() for line in said.getvalue().splitlines() if line.strip()]
        start = next((i for i, line in enumerate(lines) if line.startswith("error:")), max(0, len(lines) - 3))
        raise RecipeError(" ".join(lines[start:])) from e


def operator_sources(process, custom_paths):
    """Where the operators of the recipe are written, to tell from a traceback which one failed: see outcome.operator_of.

    Workers load custom operators through links in another folder: the end of the file name is what stays the same.
    """
    import inspect

    from data_juicer.ops import OPERATORS

    sources = []
    for entry in process:
        for name in entry:
            with contextlib.suppress(KeyError, TypeError, OSError):
                file = inspect.getsourcefile(OPERATORS.modules[name])
                lines, first = inspect.getsourcelines(OPERATORS.modules[name])
                for path in custom_paths:
                    if file == path or file.startswith(path + os.sep):
                        file = file[len(os.path.dirname(path)):]
                sources.append((file, first, first + len(lines) - 1, name))
    return sources


def check_resources(operators, cpus, gpus):
    """Ray waits for ever for a GPU or a core that does not exist; so does the shard. Says so at once instead.

    Actors of all operators hold what they asked for at the same time; tasks come one operator after the other.
    """
    for what, have, default, setting in (("GPU", gpus, 0, "num_gpus"), ("CPU", cpus, 1, "num_cpus")):
        together = 0.0
        for op in operators:
            wants = float(getattr(op, setting, None) or default)
            if op.use_ray_actor():
                least = op.num_proc[0] if isinstance(op.num_proc, (list, tuple)) else op.num_proc
                together += wants * max(1, least or 1)
        if together > have + 1e-9:
            raise NotEnoughResources(
                f"the operators that run as Ray actors ask for {together:g} {what}s at the same time, "
                f"Ray has {have:g} on this node")


def check_recipe_resources(process, cpus, gpus):
    """The same from the recipe alone: building a GPU operator takes its packages and models, so this comes first."""
    for entry in process:
        for name, args in entry.items():
            args = args or {}
            for setting, old, what, have in (("num_gpus", "gpu_required", "GPU", gpus), ("num_cpus", "cpu_required", "CPU", cpus)):
                wants = args.get(setting) or args.get(old) or 0
                if wants > have:
                    raise NotEnoughResources(
                        f"operator {name} asks for {setting}: {wants:g}, Ray has {have:g} {what}s on this node")


def _run_around(executor_class, cfg, request, carried, check):
    """Only the keys that operators look at go through the executor; see carry."""
    sys.set_int_max_str_digits(0)  # an integer of 5,000 digits is a value like any other
    tell_errors(cfg, request)
    wanted = followable.wanted_keys(cfg.process)
    carry.write(request["input"], carried, wanted)
    executor = executor_class(cfg)
    speed.install(executor, check)
    executor.exporter.export = carry.export_to(
        os.path.join(request["attempt_dir"], EXPORT), request["input"], wanted, hidden_columns(cfg))
    executor.run(skip_return=True)
    os.remove(carried)


def _run_plain(executor_class, cfg, request, check):
    tell_errors(cfg, request)
    executor = executor_class(cfg)
    speed.install(executor, check)
    export, hidden = executor.exporter.export, hidden_columns(cfg)

    def without_hidden(dataset, columns=None):
        there = [c for c in dataset.columns() or [] if c in hidden]
        export(dataset.drop_columns(there) if there else dataset, columns=columns)

    executor.exporter.export = without_hidden
    executor.run(skip_return=True)


def tell_errors(cfg, request):
    """Where records that fail are to be set aside one by one, an operator must not drop whole batches without a word."""
    if request.get("max_failed") is not None:
        for entry in cfg.process:
            for name in entry:
                entry[name] = {**(entry[name] or {}), "skip_op_error": False}


def hidden_columns(cfg):
    """Those that are not written: see chain. The recipe itself must ask for it."""
    config = cfg.config[0] if isinstance(cfg.config, list) else cfg.config
    with open(str(getattr(config, "absolute", config)), encoding="utf-8") as f:
        hides = (yaml.safe_load(f) or {}).get("keep_stats_in_res_ds") is False
    return {chain.STATS, chain.META} if hides else set()


class ColdEngine:
    def __init__(self, on_stop):
        self.on_stop = on_stop
        self.sources = []
        self.units = None

    def process(self, request):
        if request.get("checkpoint"):  # Data-Juicer's executor has no units: a warm engine for this shard alone
            from caravan_runner import warm

            self.units = warm.WarmEngine(self.on_stop)
            self.sources = self.units.sources
            return self.units.process(request)
        if request.get("produced"):
            os.environ["DJ_PRODUCED_DATA_DIR"] = request["produced"]
        return process(request, self.sources, self.on_stop)

    def close(self):
        if self.units is not None:
            self.units.close()


def process(request, sources, on_stop):
    """Returns the outcome of a success; raises for anything else. Fills `sources` once the operators are known."""
    if not os.access(request["input"], os.R_OK) or not os.path.isfile(request["input"]):
        raise InputMissing(f"the shard's input {request['input']} cannot be read on this node")
    started = time.monotonic()
    custom = custom_operator_paths(request["recipe"], request.get("recipe_dir"))
    local = request["ray"]["address"] == "local"
    compat.forbid_installation()
    if local:
        ray_local.prepare_environment()
    import ray

    imported = time.monotonic()
    with ray_local.LocalRay(request["ray"], custom) if local else ray_local.RunningRay(custom):
        signal.signal(signal.SIGTERM, on_stop)  # ray.init put its own in place
        ray_ready = time.monotonic()
        import data_juicer.ops  # noqa: F401
        from data_juicer.core.executor.ray_executor import RayExecutor

        dj_imported = time.monotonic()
        have = ray.cluster_resources()
        cpus, gpus = have.get("CPU", 0), have.get("GPU", 0)
        ray_local.log(f"Ray {ray.__version__} ({request['ray']['address']}) has {cpus:g} CPUs and {gpus:g} GPUs")
        compat.accept_restricted_numbers()
        speed.prepare(local)
        # Data-Juicer copies the recipe there and creates the folder only when its logs are in it
        os.makedirs(os.path.join(request["attempt_dir"], "work", job_id(request["attempt_dir"])), exist_ok=True)
        carried = os.path.join(request["attempt_dir"], carry.FILE)
        cfg = parse(arguments(request, custom, carried))
        sources += operator_sources(cfg.process, custom)
        check_recipe_resources(cfg.process, cpus, gpus)
        check = lambda operators: check_resources(operators, cpus, gpus)  # noqa: E731
        why = carry.obstacle(cfg)
        try:
            if why is None:
                _run_around(RayExecutor, cfg, request, carried, check)
        except chain.CannotFollow as e:
            why = str(e)
        if why is not None:
            ray_local.log(f"records are what Data-Juicer reads and writes: {why}")
            _run_plain(RayExecutor, parse(arguments(request, custom)), request, check)
        done = time.monotonic()
    return {
        "ok": True,
        **({} if why is None else {"not_carried": why}),
        "seconds": {
            "import": round(imported - started + dj_imported - ray_ready, 3),
            "ray_start": round(ray_ready - imported, 3),
            "process": round(done - dj_imported, 3),
        },
        "ray": {"address": request["ray"]["address"], "num_cpus": cpus, "num_gpus": gpus},
    }
