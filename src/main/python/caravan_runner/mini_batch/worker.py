"""One process of a node: holds the entry script, and is a Ray actor. Whatever the script raises is an answer, not an
error of the actor: so an actor that fails is a process that has ended.
"""

import logging
import os
import sys
import time
import traceback

from caravan_runner import outcome, script
from caravan_runner.entry import EntryScript
from caravan_runner.mini_batch import returned, tables


class Worker:
    def __init__(self, settings, name, device):
        """device: of CUDA_VISIBLE_DEVICES, empty for none."""
        os.environ["CUDA_VISIBLE_DEVICES"] = device  # Ray has its own idea of it
        os.environ["AZ_BATCHAI_GPU_COUNT_FOUND"] = str(settings["gpus"])
        self.settings, self.script, self.batch = settings, None, None
        logs, node = settings["logs"], settings["node"]
        self.profile_file = os.path.join(logs, "sys", "node", node, f"{name}.profile")
        self.profile = _profile(settings.get("profiling_module"))
        for number, kind in ((1, "stdout"), (2, "stderr")):
            _redirect(number, os.path.join(logs, "user", kind, node, f"{name}.{kind}.txt"))
        sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
        sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
        level = getattr(logging, settings["logging_level"])
        logging.basicConfig(stream=sys.stdout, level=level, force=True, format="%(asctime)s %(levelname)s %(name)s %(message)s")
        log_dir = os.path.join(logs, "user", "entry_script_log", node)
        for folder in (log_dir, settings["output_dir"]):
            os.makedirs(folder, exist_ok=True)
        EntryScript()._settle(log_dir, settings["output_dir"], name, level)

    def ready(self):
        return os.getpid()

    def init(self):
        """Loads the script and calls its init()."""
        return self._answer(self._init)

    def _init(self):
        loaded = script.load(self.settings["script"], self.settings["source"])
        if hasattr(loaded, "init"):
            self._profiled(loaded.init)
        self.script = loaded

    def load(self, unit):
        """Reads a mini-batch: the paths of files, or a DataFrame. @return its items"""
        self.batch = None
        return self._answer(lambda: self._load(unit))

    def _load(self, unit):
        for part in unit.get("files") or unit["tables"]:
            change = _change(part)
            if change:
                return change
        self.batch = [part["path"] for part in unit["files"]] if "files" in unit else tables.read(unit["tables"])
        return {"items": len(self.batch)}

    def run(self):
        """run() of the script on what was loaded."""
        return self._answer(self._run)

    def _run(self):
        started, busy = time.monotonic(), time.process_time()
        items = len(self.batch)
        result = self._profiled(lambda: self.script.run(self.batch))
        took = {"run_seconds": time.monotonic() - started, "process_seconds": time.process_time() - busy}
        self.batch = None
        count, lines = returned.lines(result, self.settings["output_action"] == "append_row")
        return {"items": items, "succeeded": min(count, items), "lines": lines, **took}

    def shutdown(self):
        return self._answer(lambda: self._profiled(getattr(self.script, "shutdown", lambda: None)))

    def _profiled(self, function):
        if self.profile is None:
            return function()
        try:
            return self.profile.runcall(function)
        finally:
            self.profile.dump_stats(self.profile_file)  # each time: the process may be killed

    @staticmethod
    def _answer(function):
        try:
            return {"status": "ok", **(function() or {})}
        except BaseException as e:  # sys.exit() in a script as well
            traceback.print_exc()
            said = outcome.culprit(e, ())
            return {"status": "failed", "stack": traceback.format_exc(),
                    **{key: said[key] for key in ("error", "error_class", "stack_sha256")}}
        finally:
            sys.stdout.flush()
            sys.stderr.flush()


def _change(part):
    """What is wrong with an input file, seen from this node."""
    try:
        state = os.stat(part["path"])
    except OSError as e:
        return {"status": "missing", "error": f"{part['path']} cannot be read on this node: {e.strerror}"}
    if (state.st_size, state.st_mtime_ns) != (part["size"], part["mtime_ns"]):
        return {"status": "changed", "error": f"the input was changed after the job was prepared: {part['path']} (size "
                f"{part['size']}, then {state.st_size}; modification time {part['mtime_ns']} ns, then {state.st_mtime_ns} ns)"}
    return None


def _redirect(number, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(file, number)
    os.close(file)


def _profile(module):
    if not module:
        return None
    import cProfile

    return cProfile.Profile()
