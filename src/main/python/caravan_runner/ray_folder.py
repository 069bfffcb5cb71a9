"""The folder and the processes of a private Ray: made for one attempt, found again and removed whoever died first."""

import fcntl
import os
import shutil
import signal
import stat
import sys
import tempfile
import time
from pathlib import Path

PREFIX = "cv-"
OWNER = "owner.lock"
MARK = "CARAVAN_RAY_DIR"  # in the environment of every process of a local Ray: how leftovers are recognised
SOCKET_ROOM = 40  # bytes: Ray appends up to 67 to its temp dir, and a unix socket's path ends at 107


class RayStartError(Exception):
    """Ray could not be started or reached."""

    def __init__(self, message, advice=None):
        super().__init__(message)
        self.advice = advice


def log(message):
    print(f"caravan: {message}", file=sys.stderr, flush=True)


def private_folder():
    """A fresh folder of mode 0700 whose name is short enough for Ray's sockets. Returns (path, lock)."""
    tried = []
    for base in dict.fromkeys([tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm"]):
        if len(os.fsencode(base)) + 1 + len(PREFIX) + 8 > SOCKET_ROOM:
            tried.append(f"{base} (its name is too long for Ray's sockets: {SOCKET_ROOM} bytes at most)")
            continue
        try:
            folder = tempfile.mkdtemp(prefix=PREFIX, dir=base)
            lock = os.open(os.path.join(folder, OWNER), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            return folder, lock
        except OSError as e:
            tried.append(f"{base} ({e.strerror})")
    raise RayStartError("no place for Ray's temporary files: tried " + ", ".join(tried), "make /tmp writable")


def sweep(bases=("/tmp", "/var/tmp", "/dev/shm")):
    """Removes what attempts that were killed left behind: their processes and their folders.

    A live attempt holds a lock in its folder; the system lets go of it when the attempt dies, however it dies.
    """
    for base in dict.fromkeys([tempfile.gettempdir(), *bases]):
        for folder in Path(base).glob(PREFIX + "*"):
            try:
                info = folder.lstat()
                if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
                    continue
                lock = os.open(folder / OWNER, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            except OSError:
                continue  # not ours, or just being made
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(lock)
                continue
            log(f"removing what a dead attempt left in {folder}")
            end_processes(str(folder), grace=0)
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def processes_of(folder):
    """Ids of the processes that belong to the Ray in this folder."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                if _belongs(f"/proc/{entry}", folder) and _alive(f"/proc/{entry}"):
                    found.append(int(entry))
            except OSError:  # gone meanwhile, or somebody else's
                continue
    return found


def _belongs(process, folder):
    """By command line or environment. Ray's agents overwrite both with their title; their log files stay open."""
    inside = f"{folder}/"
    with open(f"{process}/cmdline", "rb") as f:
        command = f.read()
    if inside.encode() in command:
        return True
    with open(f"{process}/environ", "rb") as f:
        if f"{MARK}={folder}\0".encode() in f.read() + b"\0":
            return True
    return command.startswith(b"ray::") and any(name.startswith(inside) for name in _open_files(process))


def _open_files(process):
    for link in os.scandir(f"{process}/fd"):
        try:
            yield os.readlink(link.path)
        except FileNotFoundError:
            continue


def _alive(process):
    with open(f"{process}/stat", "rb") as f:
        return f.read().rpartition(b")")[2].split()[0] != b"Z"


def end_processes(folder, grace):
    """Waits up to `grace` seconds for them to end by themselves, then kills what is left."""
    deadline = time.monotonic() + grace
    left = processes_of(folder)
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = processes_of(folder)
    for _ in range(20):  # a killed parent may have started another one meanwhile
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
        left = processes_of(folder)
    log(f"processes {left} of {folder} did not end when killed")
