"""The warm runner on a real Ray, as a node talks to it."""

import hashlib
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

from test_shard import BIN, OPERATORS, PATIENCE, QUICKSTART, RUNNER, SURROUNDINGS, rows, session_of, without_nulls


class ServeTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="serve-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.temp = Path(tempfile.mkdtemp(prefix="se-", dir="/tmp"))  # others may run shards in /tmp meanwhile
        self.addCleanup(shutil.rmtree, self.temp, ignore_errors=True)
        self.asked = 0

    def start(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
        environment.update(SURROUNDINGS)
        log = open(self.folder / "start.log", "wb")
        self.addCleanup(log.close)
        self.runner = subprocess.Popen([sys.executable, "-u", "-m", "caravan_runner", "serve"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=log, start_new_session=True,
                                       env={**environment, "PYTHONPATH": str(RUNNER), "TMPDIR": str(self.temp)}, text=True)
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in session_of(self.runner.pid)])
        self.addCleanup(self.runner.stdout.close)

    def recipe(self, process, **settings):
        text = {"custom_operator_paths": [str(OPERATORS)], "skip_op_error": False, **settings, "process": process}
        path = self.folder / "recipe.yaml"
        path.write_text(json.dumps(text))
        return path

    def data(self, lines):
        path = self.folder / f"data-{self.asked}.jsonl"
        path.write_text("".join(line + "\n" for line in lines))
        return path

    def ask(self, recipe, data, max_failed=None, **ray):
        self.asked += 1
        attempt = self.folder / f"attempt-{self.asked}"
        attempt.mkdir()
        self.runner.stdin.write(json.dumps({"id": self.asked, "log": str(attempt / "process.log"), "request": {
            "recipe": str(recipe), "input": str(data), "attempt_dir": str(attempt), "max_failed": max_failed,
            "ray": {"address": "warm", "num_cpus": 1, **ray}}}) + "\n")
        self.runner.stdin.flush()
        return attempt

    def shard(self, recipe, data, **ray):
        attempt = self.ask(recipe, data, **ray)
        answer = json.loads(self.runner.stdout.readline() or "null")
        self.assertIsNotNone(answer, (attempt / "process.log").read_text("utf-8", "replace")[-4000:])
        self.assertEqual(self.asked, answer["id"])
        self.assertEqual(answer["outcome"], json.loads((attempt / "outcome.json").read_text("utf-8")))
        return attempt, answer["status"], answer["outcome"]

    def leave(self):
        self.runner.stdin.close()
        self.assertEqual(0, self.runner.wait(PATIENCE))
        self.nothing_is_left()

    def nothing_is_left(self):
        end = time.monotonic() + 40
        while (session_of(self.runner.pid) or self.folders()) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual([], session_of(self.runner.pid), "processes were left")
        self.assertEqual([], self.folders(), "a folder was left")

    def command_lines(self):
        return [Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\0", " ") for pid in session_of(self.runner.pid)]

    def folders(self):
        return [p.name for p in self.temp.glob("cv-*")]

    def test_five_shards_are_those_of_dj_process_and_operators_are_built_once(self):
        self.start()
        seconds = []
        for number in range(1, 6):
            began = time.monotonic()
            attempt, status, outcome = self.shard(QUICKSTART / "recipe.yaml", QUICKSTART / "data.jsonl")
            seconds.append(round(time.monotonic() - began, 3))
            self.assertEqual((0, True), (status, outcome["ok"]), outcome)
            self.assertEqual({"shard": number, "actors": 1, "constructed": [
                {"whitespace_normalization_mapper": 1, "text_length_filter": 1}]}, outcome["warm"])
        self.assertEqual([{"name": "whitespace_normalization_mapper", "rows_in": 1000, "rows_out": 1000},
                          {"name": "text_length_filter", "rows_in": 1000, "rows_out": 795}], outcome["operators"])
        running = " ".join(self.command_lines())
        self.assertIn("no_agent.py", running)
        self.assertNotIn("DashboardAgent", running, "two Rays of one machine want its port")
        _, status, outcome = self.shard(QUICKSTART / "recipe.yaml", QUICKSTART / "data.jsonl", num_cpus=2)
        self.assertEqual((3, "infra"), (status, outcome["failure_class"]), "another Ray is asked for")
        self.leave()

        plain = self.folder / "plain"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_") and k != "PYTHONDONTWRITEBYTECODE"}
        began = time.monotonic()
        subprocess.run([str(BIN / "dj-process"), "--config", str(QUICKSTART / "recipe.yaml"), "--dataset_path",
                        str(QUICKSTART / "data.jsonl"), "--export_path", str(plain / "ray-output.jsonl"), "--executor_type",
                        "ray", "--ray_address", "local", "--work_dir", str(plain / "work")],
                       capture_output=True, timeout=PATIENCE, env=environment, start_new_session=True, check=True)
        cold = time.monotonic() - began
        print(f"warm shards {seconds} s, dj-process {cold:.1f} s: 1/{cold / max(seconds[1:]):.0f} or less", file=sys.stderr)
        self.assertEqual([without_nulls(r) for r in rows(plain)], [without_nulls(r) for r in rows(attempt)])
        self.assertLess(max(seconds[1:]), cold / 10)

    def test_values_survive_and_several_gpu_actors_keep_the_order(self):
        lines = [f'{{"id":{i}, "text":"row {i}","big":{2**63 + i},"price":1.10,"code":"00123","e":[],"o":{{}},"n":null,"d":1,"d":2}}'
                 for i in range(2500)]
        self.start()
        recipe = self.recipe([
            {"whitespace_normalization_mapper": {}},
            {"gpu_probe_mapper": {"num_gpus": 1, "num_cpus": 0.5, "num_proc": 2, "batch_size": 100, "accelerator": "cuda",
                                  "ray_execution_mode": "actor"}},
            {"text_length_filter": {"min_len": 1}},
        ], auto_op_parallelism=False, keep_stats_in_res_ds=False)
        attempt, status, outcome = self.shard(recipe, self.data(lines), num_cpus=2, num_gpus=2)
        self.assertEqual(0, status, outcome)
        got = (attempt / "ray-output.jsonl").read_text("utf-8").splitlines()
        self.assertEqual(lines, [line.split(', "gpu_ids"')[0] + "}" for line in got])
        self.assertEqual({"0", "1"}, {json.loads(line)["visible"] for line in got})
        self.leave()

    def test_what_cannot_run_warm_runs_cold_and_says_so(self):
        self.start()
        recipe = self.recipe([{"text_length_filter": {"min_len": 1}}], open_tracer=True)
        attempt, status, outcome = self.shard(recipe, self.data(['{"text":"a"}', '{"text":""}']))
        self.assertEqual((0, "open_tracer: it traces operators"), (status, outcome["fallback"]), outcome)
        self.assertEqual(["a"], [r["text"] for r in rows(attempt)])
        self.assertIn("cannot be run warm (open_tracer", (attempt / "process.log").read_text("utf-8"))
        self.leave()

    def test_a_failing_operator_is_named_its_records_are_set_aside_and_a_parent_that_dies_leaves_nothing(self):
        self.start()
        recipe = self.recipe([{"text_length_filter": {"min_len": 1}}, {"failing_mapper": {"only": [0, 2]}}])
        lines = ['{"id":0,"text":"a"}', '{"id":1,"text":"b"}', '{"id":2,"text":"c"}', '{"id":3,"text":""}', '{"id":4,"text":"e"}']
        _, status, outcome = self.shard(recipe, self.data(lines))
        self.assertEqual((1, "data", "failing_mapper", "ValueError: row 0 is not to my taste"),
                         (status, outcome["failure_class"], outcome["operator"], outcome["error"]))
        attempt, status, outcome = self.shard(recipe, self.data(lines), max_failed=2)
        self.assertEqual(0, status, outcome)
        self.assertEqual([{"name": "text_length_filter", "rows_in": 3, "rows_out": 2},
                          {"name": "failing_mapper", "rows_in": 2, "rows_out": 2}], outcome["operators"])
        self.assertEqual([1, 4], [row["id"] for row in rows(attempt)])
        failed = [json.loads(line) for line in (attempt / "failed-records.jsonl").read_text("utf-8").splitlines()]
        self.assertEqual([(1, "failing_mapper", "ValueError: row 0 is not to my taste"),
                          (3, "failing_mapper", "ValueError: row 2 is not to my taste")],
                         [(row["line"], row["operator"], row["error"]) for row in failed])
        self.assertEqual(hashlib.sha256(lines[2].encode()).hexdigest(), failed[1]["sha256"])
        self.assertEqual(failed[0]["stack_sha256"], failed[1]["stack_sha256"], "the same fault")
        _, status, outcome = self.shard(recipe, self.data(lines), max_failed=1)
        self.assertEqual((1, True), (status, outcome["too_many_failed"]), outcome)

        other = self.recipe([{"last_block_first_mapper": {"folder": str(self.folder), "last": 5}}])
        self.runner.stdin.close()
        self.runner.wait(PATIENCE)
        self.start()
        attempt = self.ask(other, self.data(['{"id":0,"text":"a"}']))  # waits for a row that never comes
        end = time.monotonic() + PATIENCE
        while not (self.folder / "first-block-waits").exists():
            self.assertLess(time.monotonic(), end, self.log(attempt))
            time.sleep(0.1)
        self.runner.stdin.close()  # as the system does for a parent that was killed
        self.assertEqual(143, self.runner.wait(PATIENCE))
        self.nothing_is_left()

    def log(self, attempt):
        path = attempt / "process.log"
        return path.read_text("utf-8", "replace") if path.exists() else ""


if __name__ == "__main__":
    unittest.main()
