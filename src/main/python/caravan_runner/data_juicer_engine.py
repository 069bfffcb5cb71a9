"""Runs Data-Juicer 1.6.1's RayExecutor on one shard, as dj-process does, with everything per attempt overridden."""

import contextlib
import io
import os
import signal
import sys
import time

import yaml

from caravan_runner import compat, ray_local, speed
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


def arguments(request, custom_paths):
    """The command line that dj-process would be given. The job id names this attempt in Data-Juicer's own logs."""
    attempt_dir = request["attempt_dir"]
    job = job_id(attempt_dir)
    args = [
        "--config", request["recipe"],
        "--dataset_path", request["input"],
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
        cfg = parse(arguments(request, custom))
        sources += operator_sources(cfg.process, custom)
        check_recipe_resources(cfg.process, cpus, gpus)
        executor = RayExecutor(cfg)
        speed.install(executor, check=lambda operators: check_resources(operators, cpus, gpus))
        executor.run(skip_return=True)
        done = time.monotonic()
    return {
        "ok": True,
        "seconds": {
            "import": round(imported - started + dj_imported - ray_ready, 3),
            "ray_start": round(ray_ready - imported, 3),
            "process": round(done - dj_imported, 3),
        },
        "ray": {"address": request["ray"]["address"], "num_cpus": cpus, "num_gpus": gpus},
    }
