"""Looks at the node from time to time: logs/perf/NODE. Stops with the runner."""

import csv
import datetime
import os
import subprocess
import tempfile
import threading
import fcntl

from caravan_runner.ray_folder import log


class Monitor:
    def __init__(self, folder, interval):
        """interval: seconds, 0 for never."""
        self.folder, self.stopped = folder, threading.Event()
        self.thread = threading.Thread(target=self._watch, args=(interval,), name="resource-monitor", daemon=True)
        if interval > 0:
            self.thread.start()

    def _watch(self, interval):
        """One runner of a node writes; the lock lies on the machine, as the runners do."""
        name = f"caravan-monitor-{os.getuid()}-{os.path.basename(self.folder)}.lock"
        with open(os.path.join(tempfile.gettempdir(), name), "w") as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    sample(self.folder)
                except BlockingIOError:
                    pass  # the node's other runner does
                except Exception as e:  # the work goes on without
                    log(f"the resource monitor could not write to {self.folder}: {type(e).__name__}: {e}")
                if self.stopped.wait(interval):
                    return

    def close(self):
        self.stopped.set()


def sample(folder):
    import psutil

    now = datetime.datetime.now().astimezone()
    hour = os.path.join(folder, "os", now.strftime("%Y%m%d%H"))
    os.makedirs(hour, exist_ok=True)
    with open(os.path.join(hour, f"processes_{now:%M}"), "wb") as f:
        subprocess.run(["ps", "auxww"], stdin=subprocess.DEVNULL, stdout=f, check=True)
    time = now.isoformat(timespec="seconds")
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    load = os.getloadavg()
    _add(folder, "node_resource_usage.csv", [{
        "time": time, "cpu_count": psutil.cpu_count(), "cpu_percent": psutil.cpu_percent(interval=0.1), "load_1": load[0],
        "load_5": load[1], "load_15": load[2], "memory_total": memory.total, "memory_available": memory.available,
        "memory_percent": memory.percent, "swap_percent": swap.percent}])
    _add(folder, "node_disk_usage.csv", [
        {"time": time, "mount": place.mountpoint, "device": place.device, "total": use.total, "used": use.used, "free": use.free,
         "percent": use.percent} for place in psutil.disk_partitions() if (use := _usage(psutil, place))])
    _add(folder, "processes_resource_usage.csv", [
        {"time": time, "pid": p.info["pid"], "name": p.info["name"], "cpu_seconds": sum(p.info["cpu_times"][:2]),
         "memory_rss": p.info["memory_info"].rss, "threads": p.info["num_threads"]}
        for p in psutil.process_iter(["pid", "name", "cpu_times", "memory_info", "num_threads"])
        if p.info["cpu_times"] and p.info["memory_info"]])


def _usage(psutil, place):
    try:
        return psutil.disk_usage(place.mountpoint)
    except OSError:
        return None


def _add(folder, name, rows):
    path = os.path.join(folder, name)
    new = not os.path.exists(path)
    with open(path, "a", encoding="utf-8", newline="") as f:
        if rows:
            writer = csv.DictWriter(f, rows[0].keys())
            if new:
                writer.writeheader()
            writer.writerows(rows)
