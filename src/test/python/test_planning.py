"""Scripts as they are looked at, and plans as they are made: no Ray."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUNNER = Path(__file__).resolve().parents[3] / "src/main/python"
OPTIONS = {"workers": None, "per_worker": 1, "retries": 2, "generate_ids": False, "limit": 0, "sink": None, "resume": False,
           "rerun_failed": [], "labels": []}


class PlanningTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="planning-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def runner(self, *arguments):
        done = subprocess.run([sys.executable, "-m", "caravan_runner", *map(str, arguments)], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(RUNNER)}, timeout=120)
        return done.returncode, json.loads(done.stdout)

    def script(self, text):
        path = self.folder / "task.py"
        path.write_text(text)
        return path

    def checked(self, text):
        return self.runner("script", "plan-execute", self.script(text))

    def plan(self, text, arguments=(), **options):
        path, output = self.script(text + "\ndef execute(item): return {}\n"), self.folder / "plan.jsonl"
        request = self.folder / "request.json"
        request.write_text(json.dumps({
            "engine": "plan-execute", "script": str(path), "output": str(output), "counts": str(self.folder / "counts.json"),
            "execution": {"plan_execute": {**OPTIONS, **options}, "script": {
                "path": str(path), "working_directory": str(self.folder), "arguments": list(arguments)}}}))
        status, answer = self.runner("plan", request)
        rows = [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else None
        return status, answer, rows

    def test_a_script_is_looked_at_without_being_run(self):
        self.assertEqual((0, {"ok": True}), self.checked("raise SystemExit('run')\nif 1:\n  def plan(): pass\nexecute = len\n"))
        status, answer = self.checked("def plan():\n    pass\n\ndef execute(item:\n    pass\n")
        self.assertEqual(2, status)
        self.assertIn("task.py: line 4: expected Python, found SyntaxError", answer["error"])
        self.assertIn("line 2: expected functions plan and execute, as engine plan-execute needs, found no execute",
                      self.checked("def plan():\n    pass\n")[1]["error"])
        self.assertIn("cannot be read", self.runner("script", "plan-execute", self.folder / "absent.py")[1]["error"])

    def test_the_plan_is_written_in_order_with_each_id_once(self):
        status, answer, rows = self.plan(
            "import argparse\n"
            "def plan():\n"
            "    p = argparse.ArgumentParser(); p.add_argument('--n', type=int); n = p.parse_args().n\n"
            "    for i in range(n):\n"
            "        print('planning', i)\n"
            "        yield {'id': f't-{i % 3}', 'x': i, 'text': 'ä'}\n", ["--n", "5"])
        self.assertEqual((0, {"items": 3, "repeated": 2, "skipped": 0, "generated": 0}), (status, answer))
        self.assertEqual([("t-0", 0), ("t-1", 1), ("t-2", 2)], [(row["id"], row["x"]) for row in rows])

    def test_a_plan_may_be_asynchronous(self):
        generator = "async def plan():\n    import asyncio\n    for i in range(3):\n        await asyncio.sleep(0)\n        yield {'id': i}\n"
        awaited = "async def plan():\n    return [{'id': i} for i in range(3)]\n"
        for text in (generator, awaited):
            self.assertEqual([{"id": 0}, {"id": 1}, {"id": 2}], self.plan(text)[2])

    def test_a_missing_id_is_an_error_unless_ids_are_generated_and_these_are_the_same_in_each_run(self):
        text = "def plan():\n    return [{'x': 1}, {'x': 2}, {'x': 1}]\n"
        status, answer, _ = self.plan(text)
        self.assertEqual(2, status)
        self.assertIn("item 1 of plan(): expected a key 'id'", answer["error"])
        _, answer, first = self.plan(text, generate_ids=True)
        self.assertEqual((3, 3), (answer["items"], answer["generated"]))
        self.assertEqual(3, len({row["id"] for row in first}))
        self.assertEqual(first, self.plan(text, generate_ids=True)[2])

    def test_what_cannot_be_an_item_is_named(self):
        for made, expected in (("[{'id': 1}, 7]", "item 2 of plan(): expected a dict, found int"),
                               ("[{'id': None}]", "item 1 of plan(): expected an id that is a text or a whole number, found None"),
                               ("[{'id': 1, 'x': object()}]", "found a value of type object"),
                               ("7", "expected something that yields items, found int"),
                               ("[1 / 0]", "line 2: ZeroDivisionError: division by zero")):
            with self.subTest(made):
                status, answer, _ = self.plan(f"def plan():\n    return {made}\n")
                self.assertEqual(2, status)
                self.assertIn(expected, answer["error"])

    def test_a_limit_ends_an_endless_plan(self):
        text = "import itertools\ndef plan():\n    for i in itertools.count():\n        yield {'id': i}\n"
        self.assertEqual([{"id": 0}, {"id": 1}], self.plan(text, limit=2)[2])

    def test_resume_leaves_out_what_a_sink_has_but_not_the_kinds_that_are_to_run_again(self):
        sink = self.folder / "sink"
        sink.mkdir()
        (sink / "ready.ndjson").write_text('{"id": 0, "result": {}}\n{"id": "a"}\n{"id": 4, "res')
        (sink / "failures.ndjson").write_text(
            '{"id": 1, "error_kind": "execute"}\n{"id": 2, "error_kind": "infra"}\n{"id": 3, "error_kind": "cancelled"}\n')
        text = "def plan():\n    for i in range(6):\n        yield {'id': i}\n"
        _, answer, rows = self.plan(text, sink=str(sink), resume=True)
        self.assertEqual([{"id": 4}, {"id": 5}], rows)
        self.assertEqual(4, answer["skipped"])
        rows = self.plan(text, sink=str(sink), resume=True, rerun_failed=["infra", "cancelled"])[2]
        self.assertEqual([2, 3, 4, 5], [row["id"] for row in rows])
