"""The files below logs/ that the node writes of its processes: see the README. No two nodes write one file."""

import datetime
import os
import socket
import threading
import time

OVERVIEW_SECONDS = 10


class Logs:
    def __init__(self, root, node):
        self.root, self.node = root, node
        self.lock = threading.Lock()
        self.overview_at = None

    def path(self, *parts):
        path = os.path.join(self.root, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def new_process(self):
        """A name that no process of this node has had."""
        for number in range(100_000):
            name = f"process{number:03}"
            try:
                os.close(os.open(self._process(name), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
                return name
            except FileExistsError:
                continue
        raise RuntimeError(f"{self.node} has had 100,000 processes: something ends them as soon as they start")

    def _process(self, name):
        return self.path("sys", "node", self.node, f"{name}.txt")

    def process(self, name, **facts):
        """Of a process: it starts, ends, or was done with a mini-batch."""
        self._add(self._process(name), " ".join(f"{key}={_text(value)}" for key, value in facts.items()))

    def error(self, name, what, error, stack=None):
        """A line in the summary, and the whole stack in the file of the process."""
        self._add(self.path("user", f"error.{self.node}.txt"), f"{name}: {what}: {error}".replace("\n", " "))
        self._add(self.path("user", "error", self.node, f"{name}.txt"), f"{what}:\n{stack or error}")

    def system_error(self, text):
        """Of what is not the script's own exception: a process that ended, or took too long."""
        self._add(self.path("sys", "error", f"{self.node}.txt"), text)

    def overview(self, text, now=False):
        """Not more often than every ten seconds, but for the first and last words."""
        clock = time.monotonic()
        if now or self.overview_at is None or clock - self.overview_at >= OVERVIEW_SECONDS:
            self.overview_at = clock
            self._add(self.path(f"job_progress_overview.{self.node}.txt"), text)

    def _add(self, path, text):
        stamp = datetime.datetime.now().astimezone().isoformat(timespec="milliseconds")
        with self.lock, open(path, "a", encoding="utf-8", errors="backslashreplace") as f:
            f.write(f"{stamp} {text}\n")


def address():
    """Of this machine, for people."""
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return "127.0.0.1"


def _text(value):
    return f"{value:.3f}" if isinstance(value, float) else value
