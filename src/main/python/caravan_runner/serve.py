"""A process that works through shards one after the other and keeps what is costly: Ray, imports, operators, workers.

Protocol: one JSON object a line on stdin, {"id": ..., "log": FILE, "request": as for `shard`}; one a line on stdout,
{"id": ..., "status": what `shard` would have exited with, "outcome": what is in outcome.json}. One request at a time.
After a status other than 0 the process should be replaced. It ends, with all its Ray processes, when stdin closes, also in
the middle of a shard, and when it is told to (SIGTERM). All requests of one process are for one engine: see engines.py.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
import traceback

from caravan_runner import engines, outcome, shard
from caravan_runner.outcome import Terminated
from caravan_runner.ray_folder import log
from caravan_runner.shard import BAD_REQUEST, OK, PATIENCE, TERMINATED


class Server:
    def __init__(self, answers):
        self.answers = answers
        self.lines = queue.Queue()
        self.busy = threading.Event()
        self.engine = None

    def watch(self, source):
        """In a thread from the first line on: the end of stdin counts also while a shard is being processed."""
        for line in source:
            self.lines.put(line)
        self.lines.put(None)
        if self.busy.is_set():
            log("the parent process is gone, stopping")
            os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(PATIENCE)
        end_session()

    def serve(self):
        try:
            while (line := self.lines.get()) is not None:
                if line.strip():
                    self.busy.set()
                    answer = self._answer(line)
                    self.busy.clear()  # before whoever reads the answer may close stdin
                    self.answers.write(json.dumps(answer) + "\n")
                    self.answers.flush()
            return OK
        except (SystemExit, KeyboardInterrupt):  # Ray's handler of SIGTERM raises SystemExit
            return TERMINATED
        except BrokenPipeError:
            return OK  # nobody reads answers any more
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if self.engine is not None:
                self.engine.close()

    def _answer(self, line):
        asked = json.loads(line)
        if asked.get("log"):
            _log_to(asked["log"])
        request = None
        try:
            request = shard.checked(asked["request"], "request", warm=True)
            os.makedirs(request["attempt_dir"], exist_ok=True)
            if self.engine is None:
                self.engine = engines.make(engines.named(request["engine"]).warm, shard.stop)
            status, result = OK, self.engine.process(request)
        except engines.EndedWith as e:
            status, result = e.status, e.outcome
        except BaseException as e:
            traceback.print_exc()
            if request is None:
                status, result = BAD_REQUEST, {"ok": False, "failure_class": "data", "error": f"bad request: {e}"}
            else:
                status, result = shard.failed(e, self.engine.sources if self.engine else [])
                if status == TERMINATED:  # e may be what Ray or an operator made of it
                    outcome.write(request["attempt_dir"], result)
                    raise Terminated(str(e)) from None
        if request is not None:
            outcome.write(request["attempt_dir"], result)
        sys.stderr.flush()
        return {"id": asked.get("id"), "status": status, "outcome": result}


def _log_to(path):
    """Whatever is printed, also by Ray for its workers, goes to the log of the attempt at hand."""
    sys.stderr.flush()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(file, 2)
    os.dup2(file, 1)
    os.close(file)


def end_session():
    """Kills what is left of this process's session, if it leads one, and then itself."""
    if os.getsid(0) == os.getpid():
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) != os.getpid():
                try:
                    with open(f"/proc/{entry}/stat", "rb") as f:
                        if int(f.read().rpartition(b")")[2].split()[3]) == os.getpid():
                            os.kill(int(entry), signal.SIGKILL)
                except (OSError, ValueError):
                    continue
    os.kill(os.getpid(), signal.SIGKILL)


def run(answers):
    for stop_signal in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(stop_signal, shard.stop)
    server = Server(answers)
    source = os.fdopen(os.dup(0), encoding="utf-8")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)  # no library and no child takes a request away
    os.close(null)
    threading.Thread(target=server.watch, args=(source,), name="watch-stdin", daemon=True).start()
    return server.serve()
