"""Engine plan-execute on a real Ray, which all tests share, as a node talks to it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from test_planning import OPTIONS, RUNNER
from test_shard import PATIENCE, SURROUNDINGS, session_of

SCRIPT = '''
import os, sys, time
from caravan_runner.task import context

marks = sys.argv[1]

def mark(text):
    with open(os.path.join(marks, "marks"), "a") as f:
        f.write(text + "\\n")

def times(name):
    """How often this has been asked about this name, over all processes."""
    path = os.path.join(marks, name)
    with open(path, "a") as f:
        f.write(".")
    return os.path.getsize(path)

def setup_worker(ctx):
    mark(f"setup {ctx.worker_id} {os.getpid()}")

def teardown_worker():
    mark(f"teardown {context().worker_id}")

def plan():
    raise NotImplementedError

def execute(item):
    mark(f"item {item['id']} {os.getpid()}")
    do = item.get("do")
    if do == "fail":
        raise ValueError("bad item " + item["id"])
    if do == "exit":
        sys.exit(3)
    if do == "crash" or do == "crash once" and times("crashed-" + item["id"]) == 1:
        os._exit(9)
    if do == "memory":
        raise MemoryError
    if do == "text":
        return "no dict"
    if do == "print":
        print("x" * 1000 * 1000)
    if do == "sleep":
        time.sleep(0.2)
    if do == "context":
        ctx = context()
        return {"rank": ctx.rank, "local_rank": ctx.local_rank, "device": ctx.device, "job": ctx.job_id, "labels": ctx.labels}
    return {"x2": item["x"] * 2}
'''


class PlanExecuteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="plan-execute-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.temp = Path(tempfile.mkdtemp(prefix="pe-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.temp, ignore_errors=True)
        cls.asked = 0
        cls.runner = None

    def setUp(self):
        if PlanExecuteTest.runner is None:
            self.start()

    @classmethod
    def start(cls):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
        environment.update(SURROUNDINGS)
        log = open(cls.folder / "start.log", "wb")
        cls.addClassCleanup(log.close)
        cls.runner = subprocess.Popen([sys.executable, "-u", "-m", "caravan_runner", "serve"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=log, start_new_session=True, text=True,
                                      env={**environment, "PYTHONPATH": str(RUNNER), "TMPDIR": str(cls.temp)})
        runner = cls.runner
        cls.addClassCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in session_of(runner.pid)])
        cls.addClassCleanup(runner.stdout.close)
        script = cls.folder / "task.py"
        script.write_text(SCRIPT)
        cls.request = {
            "engine": "plan-execute", "script": str(script), "job_id": "job-1", "max_failed": 1000,
            "output_dir": str(cls.folder / "output"), "ray": {"address": "warm", "num_cpus": 2},
            "execution": {"plan_execute": {**OPTIONS, "workers": 2, "labels": ["team=a"]}, "script": {
                "path": str(script), "working_directory": str(cls.folder), "arguments": [str(cls.folder)], "sha256": "s"}}}

    def shard(self, items, checkpoints=None, **more):
        """(status, outcome, rows, failed rows, log)"""
        PlanExecuteTest.asked += 1
        attempt = self.folder / f"attempt-{self.asked}"
        attempt.mkdir()
        (attempt / "in.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
        log = attempt / "process.log"
        self.runner.stdin.write(json.dumps({"id": self.asked, "log": str(log), "request": {
            **self.request, "input": str(attempt / "in.jsonl"), "attempt_dir": str(attempt), "attempt": attempt.name,
            "checkpoints": str(checkpoints or attempt / "checkpoints"), **more}}) + "\n")
        self.runner.stdin.flush()
        answer = json.loads(self.runner.stdout.readline() or "null")
        self.assertIsNotNone(answer, log.read_text("utf-8", "replace")[-4000:] if log.exists() else "no log")
        if answer["status"]:
            self.runner.stdin.close()
            self.runner.wait(PATIENCE)
            PlanExecuteTest.runner = None
        read = lambda name: [json.loads(line) for line in (attempt / name).read_text().splitlines()]  # noqa: E731
        return (answer["status"], answer["outcome"], read("output.jsonl") if (attempt / "output.jsonl").exists() else None,
                read("failed-records.jsonl") if (attempt / "failed-records.jsonl").exists() else [], log)

    def marks(self, start):
        return [line.split()[1:] for line in (self.folder / "marks").read_text().splitlines() if line.startswith(start + " ")]

    def executed(self, name):
        return sum(1 for mark in self.marks("item") if mark[0] == name)

    def test_rows_are_in_order_and_workers_stay_from_shard_to_shard(self):
        for part in ("a", "b"):
            items = [{"id": f"{part}-{i}", "x": i, "do": "sleep" if i % 2 else None} for i in range(8)]
            status, outcome, rows, failed, _ = self.shard(items)
            self.assertEqual(0, status, outcome)
            self.assertEqual([{"id": f"{part}-{i}", "result": {"x2": 2 * i}} for i in range(8)], rows)
            self.assertEqual([], failed)
        pids = {mark[1] for mark in self.marks("item") if mark[0][:2] in ("a-", "b-")}
        self.assertEqual(2, len(pids), "two workers, for both shards")

    def test_an_item_that_fails_is_a_row_and_is_not_tried_again(self):
        items = [{"id": "f-1", "x": 1}, {"id": "f-2", "do": "fail"}, {"id": "f-3", "do": "exit"}, {"id": "f-4", "do": "text"},
                 {"id": "f-5", "x": 5}]
        status, outcome, rows, failed, _ = self.shard(items)
        self.assertEqual((0, {"ok": 2, "failed": 3, "committed_before": 0}), (status, outcome["items"]))
        self.assertEqual(["f-1", "f-5"], [row["id"] for row in rows])
        self.assertEqual([(2, "f-2", "execute", False, "ValueError: bad item f-2"), (3, "f-3", "execute", False, "SystemExit: 3"),
                          (4, "f-4", "execute", False, "NotADict: execute() must return a dict, found str")],
                         [(row["line"], row["id"], row["error_kind"], row["retryable"], row["error"]) for row in failed])
        self.assertEqual([1, 1, 1], [self.executed(name) for name in ("f-2", "f-3", "f-4")])

    def test_an_item_whose_worker_is_lost_is_tried_again_and_one_that_always_loses_it_is_a_failure_of_kind_infra(self):
        items = [{"id": "c-1", "x": 1}, {"id": "c-2", "x": 2, "do": "crash once"}, {"id": "c-3", "do": "crash"},
                 {"id": "c-4", "do": "memory"}, {"id": "c-5", "x": 5, "do": "sleep"}]
        status, outcome, rows, failed, log = self.shard(items)
        self.assertEqual(0, status, outcome)
        self.assertEqual(["c-1", "c-2", "c-5"], [row["id"] for row in rows])
        self.assertEqual([("c-3", "infra", True), ("c-4", "infra", True)],
                         [(row["id"], row["error_kind"], row["retryable"]) for row in failed])
        self.assertEqual([1, 2, 3, 3, 1], [self.executed(f"c-{i}") for i in range(1, 6)])

    def test_what_was_committed_is_not_executed_again(self):
        checkpoints = self.folder / "kept"
        items = [{"id": f"k-{i}", "x": i, "do": "fail" if i == 2 else None} for i in range(4)]
        first = self.shard(items, checkpoints)
        second = self.shard(items, checkpoints)
        self.assertEqual(4, second[1]["items"]["committed_before"])
        self.assertEqual(first[2:4], second[2:4])
        self.assertEqual([1] * 4, [self.executed(f"k-{i}") for i in range(4)])

    def test_context_and_output_of_any_size(self):
        _, _, rows, _, log = self.shard([{"id": "o-1", "do": "context"}, {"id": "o-2", "x": 1, "do": "print"}])
        result = rows[0]["result"]
        self.assertEqual(result["rank"], result["local_rank"])
        self.assertEqual(("cpu", "job-1", {"team": "a"}), (result["device"], result["job"], result["labels"]))

    def test_workers_that_are_lost_with_item_after_item_are_quarantined_and_more_failures_than_allowed_end_the_shard(self):
        status, outcome, _, failed, _ = self.shard([{"id": f"m-{i}", "do": "fail"} for i in range(5)], max_failed=1)
        self.assertEqual((1, True), (status, outcome["too_many_failed"]))
        self.assertGreaterEqual(len(failed), 2)
        self.assertIn("teardown", (self.folder / "marks").read_text(), "workers take their leave")
        self.start()
        status, outcome, _, _, log = self.shard([{"id": f"q-{i}", "do": "crash"} for i in range(9)])
        self.assertEqual((3, "infra", "WorkersQuarantined"), (status, outcome["failure_class"], outcome["error_class"]))
        self.assertIn("QUARANTINE: worker-", log.read_text())
