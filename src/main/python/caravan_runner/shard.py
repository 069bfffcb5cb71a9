"""One attempt at one shard: reads the request, runs the engine, always leaves an outcome."""

import json
import os
import signal
import sys
import threading
import time
import traceback

from caravan_runner import engines, outcome
from caravan_runner.outcome import Terminated

OK, DATA, INFRA, BAD_REQUEST, TERMINATED = 0, 1, 3, 64, 143
PATIENCE = 30  # seconds for an orderly end after the parent is gone


told_to_stop = threading.Event()


def stop(signum, _frame):
    signal.signal(signum, signal.SIG_IGN)
    told_to_stop.set()
    raise Terminated(signal.Signals(signum).name)


def watch_parent(interval=1.0):
    """Ends the attempt when the process that asked for it is gone: nobody would read the result, and Ray would stay."""
    parent = os.getppid()

    def watch():
        while os.getppid() == parent:
            time.sleep(interval)
        print("caravan: the parent process is gone, stopping", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(PATIENCE)
        os.kill(os.getpid(), signal.SIGKILL)  # Ray's processes follow, and the next attempt here sweeps its folder

    threading.Thread(target=watch, name="watch-parent", daemon=True).start()


def read_request(path):
    with open(path, encoding="utf-8") as f:
        return checked(json.load(f), path, warm=False)


def checked(request, where, warm):
    try:
        engine = engines.named(request.setdefault("engine", engines.DEFAULT))
    except ValueError as e:
        raise ValueError(f"{where}: {e}") from None
    addresses = ("warm",) if warm else engine.addresses
    for key in (*engine.paths, "input", "attempt_dir"):
        if not isinstance(request.get(key), str):
            raise ValueError(f"{where}: expected a path in {key!r}, found {request.get(key)!r}")
        request[key] = os.path.abspath(request[key])
    ray = request.setdefault("ray", {})
    if ray.setdefault("address", addresses[0]) not in addresses:
        raise ValueError(f"{where}: ray.address must be {' or '.join(addresses)}, found {ray['address']!r}")
    numbers = {f"ray.{key}": ray.get(key) for key in ("num_cpus", "num_gpus", "object_store_memory")}
    for key, value in {**numbers, "max_failed": request.get("max_failed")}.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0 and key != "max_failed"):
            raise ValueError(f"{where}: {key} must be a number that is not negative, or null; found {value!r}")
    return request


def failed(error, sources):
    """(exit status, outcome) of an attempt that ended with this error."""
    # whoever was interrupted may wrap the exception in one of its own; Ray's handler of SIGTERM raises SystemExit
    stopped = told_to_stop.is_set() or isinstance(error, (SystemExit, KeyboardInterrupt))
    result = outcome.failure(Terminated("told to stop before the shard was done") if stopped else error, sources)
    if stopped:
        return TERMINATED, result
    return (INFRA if result["failure_class"] == "infra" else DATA), result


def run(request_path):
    try:
        request = read_request(request_path)
    except (OSError, ValueError) as e:
        print(f"caravan: bad request: {e}", file=sys.stderr)
        return BAD_REQUEST
    attempt_dir = request["attempt_dir"]
    os.makedirs(attempt_dir, exist_ok=True)
    for stop_signal in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(stop_signal, stop)
    if request.get("watch_parent", True):
        watch_parent()
    engine = None
    try:
        engine = engines.make(engines.named(request["engine"]).cold, stop)
        status, result = OK, engine.process(request)
    except BaseException as e:
        traceback.print_exc()
        status, result = failed(e, engine.sources if engine else [])
    finally:
        if engine is not None:
            engine.close()
    outcome.write(attempt_dir, result)
    sys.stdout.flush()
    sys.stderr.flush()
    return status
