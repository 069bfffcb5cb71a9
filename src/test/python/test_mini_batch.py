"""Engine mini-batch: how inputs are cut, and the entry script in processes of one real Ray, as a node talks to it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace

from test_shard import RUNNER, session_of

sys.path.insert(0, str(RUNNER))

from caravan_runner.mini_batch import pool, returned, tables, units  # noqa: E402


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="mini-batch-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def file(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def units(self, kind, *inputs, **size):
        path = self.folder / "units.jsonl"
        self.said = units.plan({"output": str(path), "execution": {"mini_batch": {
            "inputs": [str(i) for i in inputs], "dataset_type": kind, "mini_batch_size": size}}})
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


class UnitsTest(Folder):
    def names(self, batches):
        return [[os.path.relpath(part["path"], self.folder) for part in batch["files"]] for batch in batches]

    def test_files_are_put_together_by_count_or_by_bytes_in_the_order_of_their_names(self):
        for name in ("in/b", "in/a/z", "in/c", "in/.hidden", "in/é", "other"):
            self.file(name, "x" * 10)
        wanted = ["in/a/z", "in/b", "in/c", "in/é"]
        self.assertEqual([["other", *wanted[:2]], wanted[2:]],
                         self.names(self.units("file", self.folder / "other", self.folder / "in", count=3)))
        self.assertEqual([wanted[:2], wanted[2:]], self.names(self.units("file", self.folder / "in", bytes=25)))
        self.assertEqual([[name] for name in wanted], self.names(self.units("file", self.folder / "in", bytes=1)))

    def test_inputs_that_cannot_be_cut_are_refused(self):
        text = self.file("n/a.txt", "a")
        for kind, inputs, words in (
                ("file", [self.folder / "none"], "does not exist"), ("file", [text, text], "listed twice"),
                ("tabular", [text], "is no table"), ("tabular", [text.parent], "1 files are no tables"),
                ("tabular", [self.file("e/empty.csv", "a,b\n")], "has no rows"),
                ("tabular", [self.file("bad.parquet", "PAR1")], "cannot be read as Parquet")):
            with self.assertRaisesRegex(units.BadInputs, words):
                self.units(kind, *inputs, count=1, bytes=1)

    def frames(self, *inputs, size):
        return [tables.read(batch["tables"]) for batch in self.units("tabular", *inputs, bytes=size)]

    def test_a_large_table_is_cut_between_rows_and_small_ones_are_read_together(self):
        import pandas

        rows = [{"id": i, "code": f"00{i}", "text": 'two\nlines, "quoted"' if i % 3 else "one"} for i in range(50)]
        self.file("t/a.jsonl", b"\xef\xbb\xbf" + b"".join(json.dumps(row).encode() + b"\n\n" for row in rows).rstrip(b"\n"))
        pandas.DataFrame(rows).to_csv(self.folder / "t" / "b.csv", index=False)
        pandas.DataFrame(rows).to_parquet(self.folder / "t" / "c.parquet", row_group_size=7)
        for name, code in (("a.jsonl", str), ("b.csv", int), ("c.parquet", str)):
            frames = self.frames(self.folder / "t" / name, size=400)
            self.assertGreater(len(frames), 2, name)
            wanted = [{**row, "code": code(row["code"])} for row in rows]
            self.assertEqual(wanted, [row for frame in frames for row in frame.to_dict("records")], name)
        self.file("s/a.csv", "x\n1\n"), self.file("s/b.csv", "x\n2\n"), self.file("s/c.jsonl", '{"x": 3}\n')
        self.file("s/d.txt", "")
        self.assertEqual([[1, 2], [3]], [list(frame["x"]) for frame in self.frames(self.folder / "s", size=1000)])
        self.assertIn("1 files are no tables", self.said["warnings"][0])


class ReturnedTest(unittest.TestCase):
    def test_items_become_lines(self):
        import numpy
        import pandas

        self.assertEqual((2, ["a", "1"]), returned.lines(["a", 1], True))
        self.assertEqual((2, ["1 x", '2 "y z"']), returned.lines(pandas.DataFrame({"a": [1, 2], "b": ["x", "y z"]}), True))
        self.assertEqual((2, ["1", "2"]), returned.lines(numpy.array([1, 2]), True))
        self.assertEqual((1, []), returned.lines(["two\nlines"], False))
        for wrong in (None, "text", iter([1]), ["two\nlines"], pandas.DataFrame({"a": ["b\nc"]})):
            with self.assertRaises(returned.BadReturn):
                returned.lines(wrong, True)


SCRIPT = """
import os, threading, time
from pathlib import Path
from caravan_runner.entry import EntryScript

here = Path(%r)

def wait_for(*names):
    while not all((here / name).exists() for name in names):
        time.sleep(0.02)

def init():
    name = EntryScript().agent_name
    (here / f"{name}.gpu").write_text(os.environ["CUDA_VISIBLE_DEVICES"])
    (here / name).touch()

def note(mini_batch):
    with open(here / "runs.txt", "a") as f:
        f.write(os.path.basename(mini_batch[0]) + "\\n")

"""


class StuckTest(unittest.TestCase):
    def test_processes_that_are_all_in_init_for_too_long_end_the_attempt(self):
        waiting = pool.Pool({"run_invocation_timeout": 1}, None, ())
        long_ago, short_ago = time.monotonic() - 34, time.monotonic() - 30
        waiting.processes = [SimpleNamespace(state=pool.INIT, since=long_ago), SimpleNamespace(state=pool.INIT, since=short_ago)]
        waiting._check_stuck()
        waiting.processes[1].since = long_ago
        with self.assertRaisesRegex(pool.InitFailed, r"all 2 processes are in init\(\) for more than 33 s"):
            waiting._check_stuck()


class EngineTest(Folder):
    """All tests share a Ray. Each has processes of its own."""

    @classmethod
    def setUpClass(cls):
        cls.temp = tempfile.mkdtemp(prefix="mb-", dir="/tmp")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
        cls.log = open(os.path.join(cls.temp, "start.log"), "wb")
        cls.runner = subprocess.Popen(
            [sys.executable, "-u", "-m", "caravan_runner", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=cls.log, start_new_session=True, text=True,
            env={**environment, "PYTHONPATH": str(RUNNER), "TMPDIR": cls.temp, "CUDA_VISIBLE_DEVICES": "5,7"})

    @classmethod
    def tearDownClass(cls):
        cls.runner.stdin.close()
        cls.runner.wait(60)
        cls.runner.stdout.close()
        cls.log.close()
        left = session_of(cls.runner.pid)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(cls.temp, ignore_errors=True)
        assert not left, f"processes were left: {left}"

    def setUp(self):
        super().setUp()
        self.asked = 0

    def shard(self, script, batches, commits="commits", arguments=(), allowed=None, **settings):
        """(status, outcome, rows) of an attempt at a shard."""
        self.asked += 1
        (self.folder / "script.py").write_text(SCRIPT % str(self.folder) + script)
        self.file("units.jsonl", "".join(json.dumps(batch) + "\n" for batch in batches))
        attempt = self.attempt = self.folder / "attempts" / "part" / f"{self.asked:04}-token"
        attempt.mkdir(parents=True)
        request = {
            "engine": "mini-batch", "script": str(self.folder / "script.py"), "input": str(self.folder / "units.jsonl"),
            "attempt_dir": str(attempt), "output": str(attempt / "output.jsonl"), "commits": str(self.folder / commits),
            "ray": {"address": "warm", "num_cpus": 1}, "logs": str(self.folder / "logs"), "node": "n1",
            "output_dir": str(self.folder / "out"), "allowed": allowed or {},
            "source": {"path": "script.py", "working_directory": str(self.folder), "arguments": list(arguments)},
            "mini_batch": {
                "side_inputs": [], "process_count_per_node": 1, "resource_monitor_interval": 0, "logging_level": "INFO",
                "output_action": "append_row", "run_invocation_timeout": 60, "task_overhead_timeout": 600, "run_max_try": 3,
                **settings}}
        self.runner.stdin.write(json.dumps({"id": 1, "log": str(attempt / "process.log"), "request": request}) + "\n")
        self.runner.stdin.flush()
        answer = json.loads(self.runner.stdout.readline() or "null")
        self.assertIsNotNone(answer, self.read("attempts/part", f"{self.asked:04}-token", "process.log")[-4000:])
        output = attempt / "output.jsonl"
        rows = [json.loads(line) for line in output.read_text("utf-8").splitlines()] if answer["status"] == 0 else None
        return answer["status"], answer["outcome"], rows

    def read(self, *parts):
        return self.folder.joinpath(*parts).read_text("utf-8")

    def files(self, count, size):
        for i in range(count):
            self.file(f"in/f{i:02}", "x")
        return self.units("file", self.folder / "in", count=size)

    def test_results_keep_their_order_and_logs_are_where_they_belong(self):
        status, outcome, rows = self.shard("""
import logging, sys
def run(mini_batch):
    print("printed", sys.argv[1:])
    logging.warning("logged by the root logger")
    EntryScript().logger.info("logged by EntryScript")
    (Path(EntryScript().output_dir) / "mine").touch()
    if mini_batch[0].endswith("f00"):
        wait_for("process001")  # so that the other process is done with a later mini-batch first
        wait_for("runs.txt")
    note(mini_batch)
    return [os.path.basename(path) for path in mini_batch]
def shutdown():
    (here / EntryScript().agent_name).rename(here / (EntryScript().agent_name + ".shut"))
""", self.files(10, 3), process_count_per_node=2, arguments=["--unknown", "1"], profiling_module="cProfile",
            resource_monitor_interval=600)
        self.assertEqual(0, status, outcome)
        self.assertEqual([f"f{i:02}" for i in range(10)], [item for row in rows for item in row["results"]])
        self.assertEqual({"mini_batch": 3, "items": 1, "succeeded": 1, "results": ["f09"]}, rows[3])
        self.assertEqual({"done": 4, "failed": 0, "items": 10, "failed_items": 0, "resumed": 0, "processes": 2},
                         outcome["mini_batches"])
        self.assertIn("printed ['--unknown', '1']", self.read("logs/user/stdout/n1/process000.stdout.txt"))
        self.assertIn("logged by the root logger", self.read("logs/user/stdout/n1/process000.stdout.txt"))
        self.assertIn("logged by EntryScript", self.read("logs/user/entry_script_log/n1/process000.log.txt"))
        self.assertIn("mini_batch=0 result=done tries=1", self.read("logs/sys/node/n1/process000.txt"))
        self.assertIn("part: 4 of 4 mini-batches processed, 0 failed", self.read("logs/job_progress_overview.n1.txt"))
        for name in ("logs/sys/node/n1/process000.profile", "out/mine"):
            self.assertTrue((self.folder / name).exists(), name)

        # other settings: other processes, and the script of the first ones has shut down
        self.assertEqual(0, self.shard("def run(mini_batch):\n    return mini_batch\n", self.files(1, 1), commits="others")[0])
        self.assertEqual({"process000.shut", "process001.shut"}, {path.name for path in self.folder.glob("*.shut")})
        perf = self.folder / "logs/perf/n1"
        self.assertEqual(2, len((perf / "node_resource_usage.csv").read_text().splitlines()))
        self.assertEqual({"node_resource_usage.csv", "node_disk_usage.csv", "processes_resource_usage.csv", "os"},
                         {path.name for path in perf.iterdir()})
        self.assertEqual(1, len(list(perf.glob("os/*/processes_*"))))

    def test_what_fails_is_tried_again_and_then_set_aside(self):
        status, outcome, rows = self.shard("""
def run(mini_batch):
    note(mini_batch)
    name = os.path.basename(mini_batch[0])
    if name == "f00": raise ValueError("not to my taste")
    if name == "f02": threading.Event().wait()
    if name == "f04": os._exit(0)
    if name == "f06": return mini_batch[:1]
    if name == "f08": raise SystemExit(0)
    return [os.path.basename(path) for path in mini_batch]
""", self.files(12, 2), run_max_try=2, run_invocation_timeout=4)
        self.assertEqual(0, status, outcome)
        self.assertEqual([(3, 2, 1), (5, 2, 2)], [(row["mini_batch"], row["items"], row["succeeded"]) for row in rows])
        failed = [json.loads(line) for line in (self.attempt / "failed-records.jsonl").read_text("utf-8").splitlines()]
        self.assertEqual([(1, "ValueError"), (2, "TimeoutError"), (3, "ProcessEnded"), (5, "SystemExit")],
                         [(row["line"], row["error_class"]) for row in failed])
        self.assertEqual({"done": 6, "failed": 5, "items": 12, "failed_items": 9, "resumed": 0, "processes": 5},
                         outcome["mini_batches"])
        self.assertEqual(["f00", "f00", "f02", "f02", "f04", "f04", "f06", "f08", "f08", "f10"], self.read("runs.txt").split())
        self.assertIn("process000: mini-batch 0, try 2 of 2: ValueError: not to my taste", self.read("logs/user/error.n1.txt"))
        self.assertIn('raise ValueError("not to my taste")', self.read("logs/user/error/n1/process000.txt"))
        self.assertIn("running took longer than run_invocation_timeout (4 s)", self.read("logs/sys/error/n1.txt"))

    def test_what_was_done_is_not_done_again_once_too_much_has_failed(self):
        script = """
def run(mini_batch):
    note(mini_batch)
    if (here / "broken").exists() and mini_batch[0].endswith("f03"): raise ValueError("broken")
    return [os.path.basename(path) for path in mini_batch]
"""
        self.file("broken", "")
        batches = self.files(5, 1)
        status, outcome, rows = self.shard(script, batches, run_max_try=1, allowed={"items": 0})
        self.assertEqual((1, True), (status, outcome.get("too_many_failed")), outcome)
        (self.folder / "broken").unlink()
        status, outcome, rows = self.shard(script, batches, output_action="summary_only")
        self.assertEqual((1, "OtherIdentity"), (status, outcome["error_class"]), outcome)
        status, outcome, rows = self.shard(script, batches, allowed={"items": 0, "mini_batches": 0})
        self.assertEqual((0, 3), (status, outcome["mini_batches"]["resumed"]), outcome)
        self.assertEqual([[f"f0{i}"] for i in range(5)], [row["results"] for row in rows])
        self.assertEqual(["f00", "f01", "f02", "f03", "f03", "f04"], self.read("runs.txt").split())

    def test_a_process_has_a_gpu_or_none_and_a_freed_one_goes_to_the_next_process(self):
        status, outcome, rows = self.shard("""
def run(mini_batch):
    wait_for("process000", "process001", "process002")
    if EntryScript().agent_name == "process000":
        os._exit(1)
    wait_for("process003")
    return [os.environ["AZ_BATCHAI_GPU_COUNT_FOUND"]]
""", self.files(3, 1), process_count_per_node=3)
        self.assertEqual(0, status, outcome)
        self.assertEqual(["5", "7", "", "5"], [self.read(f"process00{i}.gpu") for i in range(4)])
        self.assertEqual([["2"]] * 3, [row["results"] for row in rows])

    def test_an_init_that_never_succeeds_ends_the_attempt(self):
        status, outcome, _ = self.shard("import no_such_module\n", self.files(1, 1))
        self.assertEqual((1, "data"), (status, outcome["failure_class"]))
        self.assertIn("init failed 3 times in a row on this node, the last time with ModuleNotFoundError", outcome["error"])

    def test_a_side_input_that_is_not_there_ends_the_attempt_before_a_process_starts(self):
        missing = str(self.folder / "labels")
        status, outcome, _ = self.shard("def run(mini_batch):\n    return mini_batch\n", self.files(1, 1), side_inputs=[missing])
        self.assertEqual((3, "InputMissing"), (status, outcome["error_class"]), outcome)
        self.assertIn(missing, outcome["error"])
        self.assertEqual([], list(self.folder.glob("logs/sys/node/n1/*")))

    def test_tables_come_as_data_frames_and_a_changed_input_ends_the_attempt(self):
        script = "def run(mini_batch):\n    return mini_batch.assign(b=mini_batch['a'] * 2)\n"
        table = self.file("in/t.csv", "a\n1\n2\n3\n")
        batches = self.units("tabular", table, bytes=4)
        status, outcome, rows = self.shard(script, batches)
        self.assertEqual((0, [["1 2", "2 4"], ["3 6"]]), (status, [row["results"] for row in rows]), outcome)
        self.file("in/t.csv", "a\n1\n2\n30\n")
        status, outcome, _ = self.shard(script, batches, commits="others")
        self.assertEqual((1, "InputChanged"), (status, outcome["error_class"]), outcome)
