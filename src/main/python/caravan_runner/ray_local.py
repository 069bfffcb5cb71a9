"""A Ray of one's own for one attempt: private, short-lived, gone afterwards; or the node's running Ray, left alone."""

import math
import os
import secrets
import shutil
import sys
from pathlib import Path

from caravan_runner import speed
from caravan_runner.ray_folder import MARK, RayStartError, end_processes, log, private_folder, sweep

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def usable_cpus():
    """Cores this process may really use: affinity and the container's quota count, the host's number does not."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()[:2]
        if quota != "max":
            cores = min(cores, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        try:
            quota = int(Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").read_text())
            period = int(Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us").read_text())
            if quota > 0:
                cores = min(cores, max(1, quota // period))
        except (OSError, ValueError):
            pass
    return cores


def prepare_environment(environ=os.environ):
    """What Ray and its children inherit: before Ray is imported, which reads some of it at once.

    Nothing of another Ray may leak in; only this process's token opens ours.
    """
    if "ray" in sys.modules:
        raise RuntimeError("the environment must be prepared before Ray is imported")
    for key in [k for k in environ if k.startswith("RAY_")]:
        del environ[key]
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    environ.update(
        RAY_JOB="1",  # Data-Juicer's own sign for "on Ray"; workers must see it too
        RAY_USAGE_STATS_ENABLED="0",
        RAY_AUTH_MODE="token",
        RAY_AUTH_TOKEN=secrets.token_hex(32),
        # single-machine mode: Ray then takes the loopback address and listens on nothing else
        RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0",
        # an idle worker that imported Data-Juicer is above Ray's default and would be killed at once: seconds each time
        RAY_idle_worker_killing_memory_threshold_bytes=str(1 << 40),
        RAY_task_oom_retries="3",  # without it Ray repeats a task that runs out of memory for ever
        RAY_raylet_start_wait_time_s="60",
        RAY_gcs_server_port_wait_time_s="60",
        RAY_DEDUP_LOGS="0",
        RAY_preload_python_modules="caravan_runner.worker",
    )
    direct_loopback(environ)


def direct_loopback(environ):
    """Keeps a proxy set in the environment away from local calls; the user's own downloads still see it."""
    for key in ("no_proxy", "NO_PROXY", "no_grpc_proxy"):
        known = [h.strip() for h in environ.get(key, environ.get("no_proxy", "")).split(",") if h.strip()]
        environ[key] = ",".join(dict.fromkeys([*known, *LOOPBACK]))


def check_store(size):
    """Ray refuses a store larger than /dev/shm, in words that do not say what to do."""
    if size is None:
        return
    try:
        free = shutil.disk_usage("/dev/shm").free
    except OSError:
        return
    if size > free * 0.95:
        raise RayStartError(
            f"ray.object_store_memory asks for {size:,} bytes, /dev/shm has {free:,} free",
            "lower ray.object_store_memory or give the container a larger /dev/shm (--shm-size)",
        )


def _whole(number):
    """Ray starts with whole numbers only: with a part of a CPU it has one."""
    return None if number is None else math.ceil(number)


def offer_modules(folder, paths, environ=os.environ):
    """Lets workers import the custom operators (and us) by their own names, and nothing else that lies beside them.

    Ray's py_modules would do the same through its runtime environment agent, at the cost of a worker start.
    """
    shelf = os.path.join(folder, "modules")
    os.mkdir(shelf)
    for path in [os.path.dirname(os.path.abspath(__file__)), *paths]:
        os.symlink(path, os.path.join(shelf, os.path.basename(path)))
    environ["PYTHONPATH"] = os.pathsep.join([shelf, *filter(None, [environ.get("PYTHONPATH")])])


class LocalRay:
    """Starts a Ray for this process only. Used as a context: at the end nothing of it is left."""

    def __init__(self, request, modules=(), warm_up=True):
        """warm_up: whether workers for Ray Data's tasks are started and import Data-Juicer before they are asked for."""
        self.request = request
        self.modules = modules
        self.warm_up = warm_up
        self.python_path = os.environ.get("PYTHONPATH", "")
        self.folder = None
        self.lock = None

    def __enter__(self):
        sweep()
        check_store(self.request.get("object_store_memory"))
        for attempt in (1, 2):
            self.folder, self.lock = private_folder()
            os.environ.update({MARK: self.folder, "PYTHONPATH": self.python_path})
            offer_modules(self.folder, self.modules)
            try:
                self._start()
                return self
            except BaseException as e:
                self.__exit__()
                if not isinstance(e, Exception):  # told to stop meanwhile
                    raise
                if attempt == 2:
                    raise RayStartError(
                        f"Ray did not start, twice: {type(e).__name__}: {e}",
                        "the machine may be overloaded or out of memory, processes or disk; see process.log",
                    ) from e
                log(f"Ray did not start ({type(e).__name__}: {e}); cleaned up, trying once more")

    def _start(self):
        import ray

        cpus = self.request.get("num_cpus") or usable_cpus()
        with speed.lean_node():
            ray.init(
                address="local",
                _temp_dir=self.folder,
                _node_ip_address="127.0.0.1",
                num_cpus=_whole(cpus),
                num_gpus=_whole(self.request.get("num_gpus")),
                object_store_memory=_whole(self.request.get("object_store_memory")),
                include_dashboard=False,
                logging_level="WARNING",
            )
        if self.warm_up:
            speed.warm_up(cpus)

    def __exit__(self, *_):
        """Also after a failed start, and more than once."""
        if self.folder is None:
            return
        folder, self.folder = self.folder, None
        try:
            import ray

            ray.shutdown()
        except Exception as e:  # the clean-up below does not depend on Ray's good will
            log(f"ray.shutdown: {type(e).__name__}: {e}")
        end_processes(folder, grace=3)
        shutil.rmtree(folder, ignore_errors=True)
        os.close(self.lock)


class RunningRay:
    """The Ray that already runs on this node. It is left as it was found."""

    def __init__(self, modules=()):
        self.modules = list(modules)

    def __enter__(self):
        import ray

        from data_juicer.utils.mm_utils import SPECIAL_TOKEN_ENV_PREFIX

        os.environ["RAY_JOB"] = "1"
        direct_loopback(os.environ)
        wanted = {k: v for k, v in os.environ.items() if k == "RAY_JOB" or k.startswith(SPECIAL_TOKEN_ENV_PREFIX)}
        try:
            ray.init(
                address="auto",
                runtime_env={"py_modules": self.modules or None, "env_vars": wanted},
                logging_level="WARNING",
            )
        except Exception as e:
            raise RayStartError(
                f"no running Ray could be reached: {type(e).__name__}: {e}",
                "start one on this node (ray start --head), or set ray.address: local",
            ) from e
        return self

    def __exit__(self, *_):
        import ray

        ray.shutdown()
