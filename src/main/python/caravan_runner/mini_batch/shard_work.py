"""The mini-batches of one shard: what is to be done yet, what came of it, and when there are too many failures."""

import hashlib
import json
import os
from collections import deque

from caravan_runner.poison import FILE as FAILED, TooManyFailed
from caravan_runner.outcome import InputMissing
from caravan_runner.ray_folder import log


class InputChanged(Exception):
    """A file is not what it was when mini-batches were made of it."""

    advice = "restore the input and run caravan retry, or prepare a new job"


class ShardWork:
    def __init__(self, request, pool, logs, commits):
        """commits: a CommitLog."""
        self.request, self.settings, self.pool, self.logs, self.commits = request, request["mini_batch"], pool, logs, commits
        with open(request["input"], "rb") as f:
            self.lines = [line.rstrip(b"\n") for line in f]
        self.units = [json.loads(line) for line in self.lines]
        self.places = {unit["mini_batch"]: place for place, unit in enumerate(self.units)}
        self.tries = [0] * len(self.units)
        self.rows, self.failed = {}, {}
        self.items = self.failed_items = self.short = self.written = 0
        self.todo = deque()

    def run(self):
        """Leaves the output. Returns what is counted of it."""
        resumed = self._take_committed()
        self._tell(now=True)
        with open(self.request["output"], "wb") as out:
            self._write(out)
            while len(self.rows) + len(self.failed) < len(self.units):
                running = [p for p in self.pool.processes if p.unit is not None]
                self.pool.fill(len(self.todo) + len(running))
                for process in self.pool.idle():
                    if self.todo:
                        self.pool.give(process, self.units[self.todo.popleft()])
                for unit, answer, process in self.pool.turn():
                    self._take(self.places[unit["mini_batch"]], answer, process)
                self._write(out)
            out.flush()
            os.fsync(out.fileno())
        self._write_failed()
        self._tell(now=True)
        return {"done": len(self.units), "failed": len(self.failed) + self.short, "items": self.items,
                "failed_items": self.failed_items, "resumed": resumed, "processes": self.pool.started}

    def _take_committed(self):
        committed = self.commits.committed()
        for place, unit in enumerate(self.units):
            key = str(unit["mini_batch"])
            if key in committed:
                meta = committed.meta(key)
                self._count(meta["items"], meta["succeeded"])
                self.rows[place] = lambda key=key: committed[key][0]
            else:
                self.todo.append(place)
        if self.rows:
            log(f"{len(self.rows)} of {len(self.units)} mini-batches were done by an earlier attempt")
        self._check()
        return len(self.rows)

    def _count(self, items, succeeded):
        self.items += items
        self.failed_items += items - succeeded
        self.short += succeeded < items

    def _take(self, place, answer, process):
        number = self.units[place]["mini_batch"]
        if answer["status"] == "changed":
            raise InputChanged(answer["error"])
        if answer["status"] == "missing":
            raise InputMissing(answer["error"])
        self.tries[place] += 1
        good = answer["status"] == "ok"
        items, succeeded = answer["items"], answer["succeeded"] if good else 0
        self.logs.process(process.name, mini_batch=number, result="done" if good else "failed", tries=self.tries[place],
                          pid=process.pid, items=items, succeeded=succeeded, failed="" if items is None else items - succeeded,
                          seconds=answer["seconds"], run_seconds=answer.get("run_seconds", ""),
                          process_seconds=answer.get("process_seconds", ""))
        if good:
            self._done(place, answer, process)
        else:
            self._failed(place, answer, process)
        self._tell()

    def _done(self, place, answer, process):
        number, items, succeeded = self.units[place]["mini_batch"], answer["items"], answer["succeeded"]
        row = {"mini_batch": number, "items": items, "succeeded": succeeded}
        if succeeded < items:
            self.logs.error(process.name, f"mini-batch {number}", f"run() returned {succeeded} items for {items}")
        if self.settings["output_action"] == "append_row":
            row["results"] = answer["lines"]
        data = json.dumps(row, ensure_ascii=False).encode()
        self.commits.commit(str(number), data, {"items": items, "succeeded": succeeded})
        self.rows[place] = lambda: data
        self._count(items, succeeded)
        log(f"mini-batch {number}: {succeeded} of {items} items")
        self._check()

    def _failed(self, place, answer, process):
        number, most = self.units[place]["mini_batch"], self.settings["run_max_try"]
        what = f"mini-batch {number}, try {self.tries[place]} of {most}"
        self.logs.error(process.name, what, answer["error"], answer["stack"])
        log(f"{what}: {answer['error']}")
        if self.tries[place] < most:
            self.todo.appendleft(place)
            return
        items = answer["items"] if answer["items"] is not None else len(self.units[place].get("files", [None]))
        self.items += items
        self.failed_items += items
        self.failed[place] = {
            "line": place + 1, "sha256": hashlib.sha256(self.lines[place]).hexdigest(), "mini_batch": number, "operator": "run",
            **{key: answer[key] for key in ("error", "error_class", "stack_sha256")}}
        self._check()

    def _check(self):
        """allowed: how many of the whole job may fail yet."""
        for name, count in (("items", self.failed_items), ("mini_batches", len(self.failed) + self.short)):
            allowed = self.request["allowed"].get(name)
            if allowed is not None and count > allowed:
                self._write_failed()
                last = self.failed[max(self.failed)]["error"] if self.failed else "run() returned too few items"
                raise TooManyFailed(f"{count} {name.replace('_', '-')} of this shard failed, {max(0, allowed)} more of the job "
                                    f"were allowed; the last: {last}")

    def _write(self, out):
        """In the order of the mini-batches, as far as they are over."""
        while self.written in self.rows or self.written in self.failed:
            if self.written in self.rows:
                out.write(self.rows[self.written]() + b"\n")
                self.rows[self.written] = None
            self.written += 1

    def _write_failed(self):
        if self.failed:
            with open(os.path.join(self.request["attempt_dir"], FAILED), "w", encoding="utf-8") as f:
                f.writelines(json.dumps(self.failed[place], ensure_ascii=False) + "\n" for place in sorted(self.failed))
                f.flush()
                os.fsync(f.fileno())

    def _tell(self, now=False):
        shard = os.path.basename(os.path.dirname(self.request["attempt_dir"]))
        over, running = len(self.rows) + len(self.failed), sum(p.unit is not None for p in self.pool.processes)
        self.logs.overview(f"{shard}: {over} of {len(self.units)} mini-batches processed, {len(self.failed) + self.short} failed, "
                           f"{running} at work, {self.items} items, {self.failed_items} failed", now)
