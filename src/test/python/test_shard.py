"""Shards on a real Ray. Each test starts one: about two and a half minutes in all on two cores."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RUNNER = ROOT / "src/main/python"
OPERATORS = Path(__file__).resolve().parent / "operators" / "probe_mappers.py"
QUICKSTART = ROOT / "samples/quickstart"
BIN = Path(sys.executable).parent  # not resolved: the environment's own
PATIENCE = 300
# what must not matter: somebody else's dead Ray, a proxy that swallows everything
SURROUNDINGS = {"RAY_ADDRESS": "127.0.0.1:1", "RAY_NAMESPACE": "other", "http_proxy": "http://10.255.255.1:3128",
                "https_proxy": "http://10.255.255.1:3128", "HTTP_PROXY": "http://10.255.255.1:3128"}


def session_of(leader):
    """Processes of a session that are alive."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == leader and state != "Z":
            found.append(int(stat.parent.name))
    return found


def rows(attempt):
    output = Path(attempt, "ray-output.jsonl")
    files = sorted(output.iterdir()) if output.is_dir() else [output]
    return [json.loads(line) for f in files for line in f.read_text("utf-8").splitlines()]


def without_nulls(value):
    """Absent and null are the same here: Ray fills in what other rows of a block have."""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return [without_nulls(v) for v in value] if isinstance(value, list) else value


class ShardTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="shard-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.temp = Path(tempfile.mkdtemp(prefix="st-", dir="/tmp"))  # others may run shards in /tmp meanwhile
        self.addCleanup(shutil.rmtree, self.temp, ignore_errors=True)

    def recipe(self, process, **settings):
        text = {"custom_operator_paths": [str(OPERATORS)], "skip_op_error": False, **settings, "process": process}
        path = self.folder / "recipe.yaml"
        path.write_text(json.dumps(text))
        return path

    def data(self, count):
        path = self.folder / "data.jsonl"
        path.write_text("".join(json.dumps({"id": i, "text": f"row {i}"}) + "\n" for i in range(count)))
        return path

    def start(self, recipe, data, **ray):
        request = {"recipe": str(recipe), "input": str(data), "attempt_dir": str(self.folder / "attempt"),
                   "ray": {"address": "local", "num_cpus": 1, **ray}}
        path = self.folder / "request.json"
        path.write_text(json.dumps(request))
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
        environment.update(SURROUNDINGS if request["ray"]["address"] == "local" else self.running_ray)
        log = open(self.folder / "process.log", "wb")
        self.addCleanup(log.close)
        process = subprocess.Popen([sys.executable, "-m", "caravan_runner", "shard", str(path)], stdout=log, stderr=log,
                                   start_new_session=True, env={**environment, "PYTHONPATH": str(RUNNER), "TMPDIR": str(self.temp)})
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in session_of(process.pid)])
        return process

    def log(self):
        return (self.folder / "process.log").read_text("utf-8", "replace")

    def outcome(self):
        return json.loads((self.folder / "attempt" / "outcome.json").read_text("utf-8"))

    def run_shard(self, recipe, data, **ray):
        process = self.start(recipe, data, **ray)
        status = process.wait(PATIENCE)
        self.assertTrue((self.folder / "attempt" / "outcome.json").exists(), self.log()[-4000:])
        self.nothing_is_left(process)
        return status, self.outcome()

    def nothing_is_left(self, process):
        self.assertEqual([], session_of(process.pid), "processes were left")
        self.assertEqual([], self.folders(), "a folder was left")

    def folders(self):
        return [p.name for p in self.temp.glob("cv-*")]

    def until_ray_is_up(self, process):
        end = time.monotonic() + PATIENCE
        while "caravan: Ray " not in self.log():
            self.assertIsNone(process.poll(), self.log()[-4000:])
            self.assertLess(time.monotonic(), end, self.log()[-4000:])
            time.sleep(0.05)

    def test_rows_are_those_of_plain_dj_process(self):
        status, outcome = self.run_shard(QUICKSTART / "recipe.yaml", QUICKSTART / "data.jsonl")
        self.assertEqual((0, True), (status, outcome["ok"]), outcome)
        self.assertEqual({"import", "ray_start", "process"}, set(outcome["seconds"]))
        self.assertEqual({"address": "local", "num_cpus": 1.0, "num_gpus": 0}, outcome["ray"])
        print("shard", outcome["seconds"], file=sys.stderr)

        plain = self.folder / "plain"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_") and k != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run([str(BIN / "dj-process"), "--config", str(QUICKSTART / "recipe.yaml"), "--dataset_path",
                               str(QUICKSTART / "data.jsonl"), "--export_path", str(plain / "ray-output.jsonl"),
                               "--executor_type", "ray", "--ray_address", "local", "--work_dir", str(plain / "work")],
                              capture_output=True, timeout=PATIENCE, env=environment, start_new_session=True)
        self.assertEqual(0, done.returncode, done.stderr[-2000:])
        expected, got = rows(plain), rows(self.folder / "attempt")
        self.assertEqual(795, len(expected))
        self.assertEqual([r["id"] for r in expected], [r["id"] for r in got])
        self.assertEqual([without_nulls(r) for r in expected], [without_nulls(r) for r in got])
        for name in ("work", "logs"):
            self.assertTrue((self.folder / "attempt" / name).is_dir())

    def test_gpus_reach_the_tasks_and_racing_blocks_keep_their_order(self):
        recipe = self.recipe([
            {"last_block_first_mapper": {"folder": str(self.folder), "last": 399, "num_cpus": 0.5, "batch_size": 100,
                                         "input_columns": ["id"]}},
            {"gpu_probe_mapper": {"num_gpus": 1, "num_proc": 4, "batch_size": 100, "accelerator": "cuda", "ray_execution_mode": "task",
                                  "input_columns": ["text"]}},
        ], override_num_blocks=4, auto_op_parallelism=False)
        lines = [self.odd_line(i) for i in range(400)]
        data = self.folder / "data.jsonl"
        data.write_text("".join(line + "\n" for line in lines))
        status, outcome = self.run_shard(recipe, data, num_cpus=4, num_gpus=4)
        self.assertEqual(0, status, self.log()[-4000:])
        self.assertEqual(4, outcome["ray"]["num_gpus"])
        text = (self.folder / "attempt" / "ray-output.jsonl").read_text("utf-8")
        self.assertEqual(lines, [line.split(', "pid"')[0] + "}" for line in text.splitlines()])
        got = rows(self.folder / "attempt")
        self.assertTrue((self.folder / "last-block-done").exists())
        self.assertGreater(len({r["pid"] for r in got}), 1, "the blocks did not race")
        for row in got:
            self.assertIn(row["gpu_ids"], {"0", "1", "2", "3"})
            self.assertEqual(row["gpu_ids"], row["visible"])

    @staticmethod
    def odd_line(i):
        """Values that a table of one type a key would change, and keys that come and go and come late."""
        odd = [f'"big":{2**63 + i}', '"price":1.10,"e":[]', '"code":"00123","day":"2024-01-01"', '"n":null,"o":{}',
               '"m":"one"', '"m":1', '"meta":{"deep":{"er":[1,"2"]}}'][i % 7]
        return f'{{"id":{i}, "text":"row {i}",{odd}' + (',"late":true}' if i > 390 else "}")

    def test_an_operators_error_is_the_datas_and_names_the_operator(self):
        status, outcome = self.run_shard(self.recipe([{"text_length_filter": {"min_len": 1}}, {"failing_mapper": {}}]), self.data(4))
        self.assertEqual(1, status)
        self.assertRegex(outcome.pop("stack_sha256"), "^[0-9a-f]{64}$")
        self.assertEqual({"ok": False, "failure_class": "data", "operator": "failing_mapper", "error_class": "ValueError",
                          "error": "ValueError: row 0 is not to my taste", "advice": None}, outcome)

    def test_a_worker_that_keeps_dying_ends_the_attempt(self):
        status, outcome = self.run_shard(self.recipe([{"failing_mapper": {"how": "exit"}}]), self.data(4))
        self.assertEqual((3, "infra"), (status, outcome["failure_class"]), outcome)
        self.assertIn("WorkerCrashedError", outcome["error"])

    def test_a_missing_package_is_not_installed_by_a_worker(self):
        status, outcome = self.run_shard(self.recipe([{"failing_mapper": {"how": "install"}}]), self.data(4))
        self.assertEqual(1, status)
        self.assertIn("needs the Python package no_such_package_of_caravan", outcome["error"])
        self.assertNotIn("Installing no_such_package_of_caravan", self.log())

    def test_a_gpu_that_is_not_there_fails_at_once_and_a_killed_attempt_is_swept(self):
        killed = self.start(QUICKSTART / "recipe.yaml", QUICKSTART / "data.jsonl")
        self.until_ray_is_up(killed)
        killed.kill()
        killed.wait(PATIENCE)
        self.assertEqual(1, len(self.folders()), "the killed one could not clean up")

        status, outcome = self.run_shard(ROOT / "samples/gpu/recipe-1gpu.yaml", ROOT / "samples/gpu/data.jsonl", num_gpus=0)
        self.assertEqual((3, "infra"), (status, outcome["failure_class"]))
        self.assertEqual("NotEnoughResources: operator query_sentiment_detection_mapper asks for num_gpus: 1, "
                         "Ray has 0 GPUs on this node", outcome["error"])
        self.nothing_is_left(killed)

    def test_an_attempt_that_is_told_to_stop_leaves_nothing(self):
        process = self.start(QUICKSTART / "recipe.yaml", QUICKSTART / "data.jsonl")
        self.until_ray_is_up(process)
        process.terminate()
        self.assertEqual(143, process.wait(PATIENCE), self.log()[-4000:])
        self.assertEqual((False, "infra"), (self.outcome()["ok"], self.outcome()["failure_class"]))
        self.nothing_is_left(process)

    def test_no_row_left_is_a_success(self):
        status, outcome = self.run_shard(self.recipe([{"text_length_filter": {"min_len": 1000}}]), self.data(4))
        self.assertEqual((0, True), (status, outcome["ok"]), outcome)
        self.assertEqual([], rows(self.folder / "attempt"))

    def test_a_recipe_that_data_juicer_refuses(self):
        status, outcome = self.run_shard(self.recipe([{"text_length_filter": {"min_len": "many"}}]), self.data(2))
        self.assertEqual((1, "data"), (status, outcome["failure_class"]))
        self.assertIn("min_len", outcome["error"])

    def test_the_nodes_running_ray_is_used_and_left_running(self):
        home = tempfile.mkdtemp(prefix="ra", dir="/tmp")
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        token = "ab" * 32
        self.running_ray = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
        base = {k: v for k, v in os.environ.items() if not k.startswith("RAY_") and k != "PYTHONDONTWRITEBYTECODE"}
        head = subprocess.Popen([str(BIN / "ray"), "start", "--head", "--block", "--port=0", "--node-ip-address=127.0.0.1",
                                 "--include-dashboard=false", "--num-cpus=2", "--num-gpus=0", f"--temp-dir={home}", "--disable-usage-stats"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                                env={**base, **self.running_ray})
        self.addCleanup(head.stdout.close)
        self.addCleanup(head.wait)
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in session_of(head.pid)])
        said = []
        for line in head.stdout:
            said.append(line)
            address = re.search(r"ray start --address='([0-9.:]+)'", line)
            if address:
                self.running_ray["RAY_ADDRESS"] = address.group(1)
            if "--block" in line:
                break
        self.assertIn("RAY_ADDRESS", self.running_ray, "".join(said))

        process = self.start(self.recipe([{"gpu_probe_mapper": {}}]), self.data(4), address="auto", num_cpus=None)
        self.assertEqual(0, process.wait(PATIENCE), self.log()[-4000:])
        self.assertEqual([0, 1, 2, 3], [r["id"] for r in rows(self.folder / "attempt")])
        self.assertEqual({"address": "auto", "num_cpus": 2.0, "num_gpus": 0}, self.outcome()["ray"])
        self.assertIsNone(head.poll(), "the node's Ray was stopped")
        self.nothing_is_left(process)


if __name__ == "__main__":
    unittest.main()
