"""A process that works through shards one after the other and keeps what is costly: Ray, imports, operators.

Protocol: one JSON object a line on stdin, {"id": ..., "log": FILE, "request": as for `shard`}; one a line on stdout,
{"id": ..., "status": what `shard` would have exited with, "outcome": what is in outcome.json}. One request at a time.
After a status other than 0 the process should be replaced. It ends, with all its Ray processes, when stdin closes, also in
the middle of a shard, and when it is told to (SIGTERM).

A recipe that cannot be run this way is run by `shard` in a process of its own, each time; the log and outcome.json
("fallback") say why.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback

from caravan_runner import outcome, shard
from caravan_runner.outcome import Terminated
from caravan_runner.ray_folder import log
from caravan_runner.shard import BAD_REQUEST, DATA, INFRA, OK, PATIENCE, TERMINATED


class Server:
    def __init__(self, answers):
        self.answers = answers
        self.lines = queue.Queue()
        self.busy = threading.Event()
        self.engine = None
        self.fallback = None

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
            request = shard.checked(asked["request"], "request", ("warm",))
            os.makedirs(request["attempt_dir"], exist_ok=True)
            result, status = self._process(request)
        except BaseException as e:
            traceback.print_exc()
            if request is None:
                status, result = BAD_REQUEST, {"ok": False, "failure_class": "data", "error": f"bad request: {e}"}
            else:
                status, result = shard.failed(e, self.engine.sources if self.engine else [])
                outcome.write(request["attempt_dir"], result)
            if status == TERMINATED:  # e may be what Ray or an operator made of it
                raise Terminated(str(e)) from None
        sys.stderr.flush()
        return {"id": asked.get("id"), "status": status, "outcome": result}

    def _process(self, request):
        from caravan_runner import chain, warm

        if self.fallback is None:
            try:
                if self.engine is None:
                    self.engine = warm.WarmEngine(shard.stop)
                result = self.engine.process(request)
                outcome.write(request["attempt_dir"], result)
                return result, OK
            except warm.NeedsColdEngine as e:
                self.fallback = str(e)
            except Exception as e:
                why = next((c for c in outcome.chain(e) if isinstance(c, chain.CannotFollow)), None)
                if why is None:
                    raise
                self.fallback = str(why)
            self.engine.close()
            self.engine = None
            signal.signal(signal.SIGTERM, shard.stop)  # Ray has put the system's own back
        log(f"the recipe cannot be run warm ({self.fallback}): each shard gets a Ray of its own")
        return self._cold(request)

    def _cold(self, request):
        asked = os.path.join(request["attempt_dir"], "cold-request.json")
        output = os.path.join(request["attempt_dir"], "ray-output.jsonl")
        if os.path.isfile(output):
            os.remove(output)
        with open(asked, "w", encoding="utf-8") as f:
            json.dump({**request, "ray": {**request["ray"], "address": "local"}}, f)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
        if request.get("produced"):
            environment["DJ_PRODUCED_DATA_DIR"] = request["produced"]
        child = subprocess.Popen([sys.executable, "-u", "-m", "caravan_runner", "shard", asked],
                                 stdin=subprocess.DEVNULL, env=environment)
        try:
            status = child.wait()
        except BaseException:
            child.terminate()
            child.wait()
            raise
        path = os.path.join(request["attempt_dir"], "outcome.json")
        try:
            with open(path, encoding="utf-8") as f:
                result = {**json.load(f), "fallback": self.fallback}
        except FileNotFoundError:
            result = outcome.failure(RuntimeError(f"the cold engine ended with {status} and said nothing"))
            result["fallback"] = self.fallback
        outcome.write(request["attempt_dir"], result)
        return result, 128 - status if status < 0 else status


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
