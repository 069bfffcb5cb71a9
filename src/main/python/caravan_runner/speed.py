"""What is changed in Ray and Data-Juicer for one shard: rows keep their order, retries are bounded, and work that a
single shard does not need is left out. Each change names what it spares; rows and values stay those of dj-process."""

import contextlib
import subprocess
import sys
import uuid

from caravan_runner import no_agent

AGENT = "dashboard_agent_command"
WARM_WORKERS = 4
TASK_RETRIES = 3


@contextlib.contextmanager
def _replaced(owner, **functions):
    """Other versions may lack a function: then there is nothing to leave out."""
    kept = {name: getattr(owner, name) for name in functions if hasattr(owner, name)}
    for name in kept:
        setattr(owner, name, functions[name])
    try:
        yield
    finally:
        for name, function in kept.items():
            setattr(owner, name, function)


@contextlib.contextmanager
def lean_node():
    """Starts Ray without its dashboard's server and its autoscaler, which run even when no dashboard is asked for:
    two Python processes and 1.5 s at the start, 1 s at the end. And without the dashboard's agent: 1 s of processor time,
    and up to 4 s where another Ray of the machine has its port."""
    from ray._private import services
    from ray._private.node import Node

    start = services.start_ray_process

    def start_without_agent(command, *args, **kwargs):
        return start(_without_agent(command), *args, **kwargs)

    with (_replaced(Node, start_api_server=lambda self, **_: None, start_monitor=lambda self: None),
          _replaced(services, start_ray_process=start_without_agent)):
        yield


def _without_agent(command):
    """The raylet's command line with another agent; other command lines as they are."""
    options = dict(part[2:].split("=", 1) for part in command if part.startswith("--") and "=" in part)
    if not {AGENT, "session_dir", "node_id"} <= options.keys():
        return command
    agent = [sys.executable, "-I", "-S", no_agent.__file__, options["session_dir"], options["node_id"]]
    return [f"--{AGENT}={subprocess.list2cmdline(agent)}" if part.startswith(f"--{AGENT}=") else part for part in command]


def warm_up(cpus):
    """Workers start and import Data-Juicer while the driver does the same, not when their first task waits for it.

    Ray Data's coordinator, an actor of its own, is asked for first: it would take a worker away later on.
    Nobody waits for the answers: if an import fails, the first real task says so.
    """
    import ray

    with contextlib.suppress(ImportError):
        from ray.data._internal.cluster_autoscaler import get_or_create_autoscaling_coordinator

        get_or_create_autoscaling_coordinator()

    def load():
        import data_juicer.core.data.ray_dataset  # noqa: F401

    loader = ray.remote(num_cpus=1, max_retries=0)(load)
    return [loader.remote() for _ in range(min(max(1, int(cpus)), WARM_WORKERS))]


def prepare(local):
    """After Ray is up, before Data-Juicer reads its configuration."""
    from ray.data import DataContext

    context = DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    _bound_retries()
    if local:
        _describe_node()
        _no_statistics()


def _bound_retries():
    """Ray Data repeats a task whose worker died for ever: a record that kills its worker would hold the shard for good."""
    from ray.data._internal import remote_fn
    from ray.data._internal.execution.operators.actor_pool_map_operator import ActorPoolMapOperator

    add_system_errors = getattr(remote_fn, "_add_system_error_to_retry_exceptions", None)
    if add_system_errors is not None:

        def bounded(ray_remote_args):
            if ray_remote_args.get("max_retries") == -1:
                ray_remote_args["max_retries"] = TASK_RETRIES
            add_system_errors(ray_remote_args)

        remote_fn._add_system_error_to_retry_exceptions = bounded
    actor_defaults = getattr(ActorPoolMapOperator, "_apply_default_remote_args", None)
    if actor_defaults is not None:

        def bounded_actor(ray_remote_args, data_context):
            bounds = {"max_restarts": TASK_RETRIES, "max_task_retries": TASK_RETRIES}
            return actor_defaults({**bounds, **ray_remote_args}, data_context)

        ActorPoolMapOperator._apply_default_remote_args = staticmethod(bounded_actor)


def _no_statistics():
    """Ray Data reports its progress to an actor, a worker process of its own, for a dashboard that is not there."""
    from ray.data._internal import stats

    manager = getattr(stats, "_StatsManager", None)
    if manager is not None:
        for name in ("update_execution_metrics", "update_iteration_metrics", "register_dataset_to_stats_actor"):
            if hasattr(manager, name):
                setattr(manager, name, staticmethod(lambda *_, **__: None))
        manager.gen_dataset_id_from_stats_actor = staticmethod(lambda: uuid.uuid4().hex)


def _describe_node():
    """Data-Juicer asks each node for its memory and GPUs in a task of its own, and skips nodes with "head" in their
    host name, so that a machine named like that appears to have no memory at all. Ours is this machine."""
    import psutil
    import ray
    from data_juicer.utils import ray_utils, resource_utils

    total = resource_utils.query_cuda_info("memory.total") or []
    free = resource_utils.query_cuda_info("memory.free") or []
    ray_utils._RAY_NODES_INFO = {
        node["NodeID"]: {
            "free_memory": psutil.virtual_memory().available >> 20,
            "cpu_count": psutil.cpu_count(),
            "gpu_count": len(free),
            "gpus_memory": total,
            "free_gpus_memory": free,
        }
        for node in ray.nodes()
        if node["Alive"]
    }


def install(executor, check):
    """Before the executor runs. check: called with the operators once they are built, before anything is scheduled."""
    from data_juicer.core.executor import ray_executor

    load_ops = ray_executor.load_ops

    def load_and_check(*args, **kwargs):
        operators = load_ops(*args, **kwargs)
        check(operators)
        return operators

    ray_executor.load_ops = load_and_check
    load_dataset = executor.datasetbuilder.load_dataset

    def load_and_count(*args, **kwargs):
        """The number of input rows is only logged; counting lines spares reading and parsing the whole shard once."""
        dataset = load_dataset(*args, **kwargs)
        lines = _lines(executor.cfg.dataset_path)
        dataset.data.count = lambda: lines
        return dataset

    executor.datasetbuilder.load_dataset = load_and_count


def _lines(path):
    with open(path, "rb") as f:
        count, last = 0, b"\n"
        while block := f.read(1 << 20):
            count, last = count + block.count(b"\n"), block[-1:]
    return count + (last != b"\n")
