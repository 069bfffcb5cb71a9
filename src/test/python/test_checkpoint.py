"""A shard goes on behind what was committed of it, and only what was prepared and is the same work counts."""

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

from test_shard import OPERATORS, PATIENCE, RUNNER, session_of

sys.path.insert(0, str(RUNNER))
from caravan_runner import chain, checkpoint, commit_log, identity, outcome  # noqa: E402

ASKED = {"id_column": "id", "isolate_poison": False}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="checkpoint-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.attempts = 0

    def recipe(self, process, name="recipe.yaml", **settings):
        path = self.folder / name
        path.write_text(json.dumps({"skip_op_error": False, **settings, "process": process}))
        return path

    def request(self, recipe, data, ranges=None, **more):
        self.attempts += 1
        attempt = self.folder / f"attempt-{self.attempts}"
        attempt.mkdir()
        return {"recipe": str(recipe), "input": str(data), "attempt_dir": str(attempt), **more,
                "checkpoint": {"folder": str(self.folder / "checkpoints"), "attempt": f"{self.attempts:04}", "seconds": 0,
                               "identity": ASKED, **(ranges or {})}}


class InputTest(Case):
    """Without Ray: what is read, and what is committed."""

    def setUp(self):
        super().setUp()
        self.was = checkpoint.BLOCK
        checkpoint.BLOCK = 64
        self.addCleanup(setattr, checkpoint, "BLOCK", self.was)
        self.one, self.other = self.folder / "one.jsonl", self.folder / "other.jsonl"
        self.lines = [f'{{"id":{i}}}\n'.encode() for i in range(100)]
        self.one.write_bytes(b"".join(self.lines[:50])[:-1])  # its last line lacks a line feed
        self.other.write_bytes(b"x" * 10 + b"".join(self.lines[50:]))
        self.shard = b"".join(self.lines)
        self.plain = self.recipe([{"text_length_filter": {"min_len": 1}}])

    def open(self, recipe=None, sha256=None):
        ranges = [{"file": str(self.one), "offset": 0, "length": self.one.stat().st_size},
                  {"file": str(self.other), "offset": 10, "length": len(b"".join(self.lines[50:]))}]
        cut = self.folder / f"cut-{self.attempts}"
        opened = checkpoint.Checkpoint(self.request(recipe or self.plain, cut, {
            "ranges": ranges, "sha256": sha256 or hashlib.sha256(self.shard).hexdigest()}))
        self.addCleanup(opened.log.close)
        with open(cut, "rb") as f:
            f.seek(opened.start)
            return opened, f.read()

    def do(self, opened, first, last):
        lines = self.lines[first:last]
        opened.add(lines, b"".join(line.upper() for line in lines), [("some", len(lines), len(lines))], [])

    def test_wherever_a_shard_was_left_exactly_the_rest_is_done_and_little_else_is_read(self):
        for committed in (0, 1, 7, 49, 50, 51, 99, 100):
            shutil.rmtree(self.folder / "checkpoints", ignore_errors=True)
            first, whole = self.open()
            self.assertEqual((self.shard, 0), (whole, first.rows))
            if committed:
                self.do(first, 0, committed)
            first.log.close()

            then, rest = self.open()
            done = len(b"".join(self.lines[:committed]))
            self.assertEqual((self.shard[done:], committed), (rest, then.rows), committed)
            self.assertLess(done - then.told()["unread_bytes"], 64, committed)
            with open(self.folder / "out", "wb") as out:
                self.assertEqual([([["some", committed, committed]], [])] if committed else [], list(then.restore(out)))
            self.assertEqual(self.shard[:done].upper(), (self.folder / "out").read_bytes())

    def test_units_of_several_attempts_are_put_together_without_a_gap(self):
        first, _ = self.open()
        self.do(first, 0, 10)
        then, _ = self.open()
        self.do(first, 10, 15)  # an attempt that was taken for dead
        self.do(then, 10, 30)
        first.commit()
        self.do(first, 15, 40)
        third, rest = self.open()
        self.assertEqual((30, b"".join(self.lines[30:])), (third.rows, rest), "of two units from one record on the longer")

    def test_an_input_that_was_changed_is_refused_before_anything_is_committed(self):
        data = self.other.read_bytes()
        self.other.write_bytes(data[:-3] + b"8}\n")
        with self.assertRaisesRegex(checkpoint.InputChanged, "the input was changed after the job was prepared.*other.jsonl"):
            self.open()
        self.other.write_bytes(data)
        first, _ = self.open()
        self.do(first, 0, 60)
        first.log.close()
        self.one.write_bytes(b"#" * self.one.stat().st_size)  # is done and not read again
        self.open()[0].log.close()
        self.other.write_bytes(data[:-3] + b"8}\n")
        with self.assertRaises(checkpoint.InputChanged):
            self.open()
        self.other.unlink()
        with self.assertRaises(outcome.InputMissing):
            self.open()

    def test_a_unit_ends_after_its_seconds(self):
        opened, _ = self.open()
        opened.seconds = 3600
        self.do(opened, 0, 10)
        self.do(opened, 10, 20)
        self.assertEqual(0, self.open()[0].rows)
        opened.seconds = 0
        self.do(opened, 20, 30)
        self.assertEqual((30, 1), (self.open()[0].rows, len(self.open()[0].units)))

    def test_a_changed_recipe_is_refused_by_the_names_of_what_differs(self):
        self.open()[0].log.close()
        other = self.recipe([{"text_length_filter": {"min_len": 2}}], name="other.yaml", text_keys="words")
        with self.assertRaises(commit_log.OtherIdentity) as refused:
            self.open(other)
        self.assertIn('process[0].text_length_filter.min_len was 1, is 2; text_keys was null, is "words"', str(refused.exception))
        self.assertFalse(outcome.is_infra(refused.exception))
        harmless = self.recipe([{"text_length_filter": {"min_len": 1, "num_proc": 7}}], name="harmless.yaml", np=9,
                               open_monitor=True, export_path="/elsewhere")
        self.open(harmless)

    def test_models_and_custom_operators_are_known_by_what_is_in_their_files(self):
        model, custom = self.folder / "model", self.folder / "op.py"
        model.mkdir()
        (model / "config.json").write_text("1")
        custom.write_text("a = 1")
        recipe = self.recipe([{"some_mapper": {"hf_model": str(model), "save_dir": str(self.folder)}}], custom_operator_paths=["op.py"])
        before = identity.of_recipe(recipe)
        self.assertEqual(before, identity.of_recipe(recipe))
        (model / "config.json").write_text("2")
        custom.write_text("a = 2")
        after = identity.of_recipe(recipe)
        self.assertEqual({"files of process[0].some_mapper.hf_model", "custom_operator_paths op.py"},
                         {name for name in after if before[name] != after[name]})

    def test_records_that_do_not_stand_alone_are_found(self):
        rows = chain.Rows(b'{"id":"a","text":"x"}\n{"id":2,"text":"y"}\n', None)
        columns = rows.columns()
        rows.require_alone({k: v[1:] for k, v in columns.items()}, "id")
        with self.assertRaisesRegex(chain.NotAlone, "several records of the one with id 2"):
            rows.require_alone({k: v + v[1:] for k, v in columns.items()}, "id")
        with self.assertRaisesRegex(chain.NotAlone, "changed id 'a' to 'b'"):
            rows.require_alone({**columns, "id": ["b", 2]}, "id")
        with self.assertRaisesRegex(chain.NotAlone, "changed id 2 to '2'"):
            rows.require_alone({**columns, "id": ["a", "2"]}, "id")


class KillTest(Case):
    """On a real Ray."""

    def start(self, request):
        path = Path(request["attempt_dir"], "request.json")
        path.write_text(json.dumps(request))
        self.log = Path(request["attempt_dir"], "process.log")
        with open(self.log, "wb") as log:
            process = subprocess.Popen([sys.executable, "-m", "caravan_runner", "shard", str(path)], stdout=log, stderr=log,
                                       start_new_session=True, env={**os.environ, "PYTHONPATH": str(RUNNER)})
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in session_of(process.pid)])
        return process

    def wait_for(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, self.log.read_text("utf-8", "replace"))
            time.sleep(0.1)

    def units(self):
        found = commit_log.Committed()
        for path in (self.folder / "checkpoints").glob("*.log"):
            found.add(path, json.loads(path.read_bytes().splitlines()[0])["identity"])
        return found

    def test_a_killed_attempt_is_gone_on_with_and_the_bytes_are_those_of_one_without_an_interruption(self):
        lines = [f'{{"id":{i}, "text":"{"row" if i % 7 else ""} {i}", "big":{2**63 + i}}}' for i in range(2000)]
        data = self.folder / "data.jsonl"
        data.write_text("".join(line + "\n" for line in lines))
        ranges = {"ranges": [{"file": str(data), "offset": 0, "length": data.stat().st_size}],
                  "sha256": hashlib.sha256(data.read_bytes()).hexdigest()}
        recipe = self.recipe([{"noting_mapper": {"folder": str(self.folder)}},
                              {"failing_mapper": {"only": [700]}},
                              {"stumbling_mapper": {"folder": str(self.folder), "fails_on": -1, "hangs_on": 1500}},
                              {"text_length_filter": {"min_len": 6}}],
                             custom_operator_paths=[str(OPERATORS)], keep_stats_in_res_ds=False)
        ray = {"address": "local", "num_cpus": 1}

        killed = self.start(self.request(recipe, self.folder / "cut-1", ranges, ray=ray, max_failed=5))
        self.wait_for(lambda: (self.folder / "hung").exists() and len(self.units()) == 47)  # blocks, and 46 portions of 32
        for pid in session_of(killed.pid):
            os.kill(pid, signal.SIGKILL)
        killed.wait()
        request = self.request(recipe, self.folder / "cut-2", ranges, ray=ray, max_failed=5)
        process = self.start(request)
        self.assertEqual(0, process.wait(PATIENCE), self.log.read_text("utf-8", "replace"))

        expected = [line.replace("row", "ROW") for i, line in enumerate(lines) if i != 700 and len(json.loads(line)["text"]) >= 6]
        attempt = Path(request["attempt_dir"])
        self.assertEqual(expected, (attempt / "ray-output.jsonl").read_text("utf-8").splitlines())
        told = json.loads((attempt / "outcome.json").read_text("utf-8"))
        self.assertEqual((46, 1472), (told["checkpoint"]["restored_units"], told["checkpoint"]["restored_rows"]))
        self.assertEqual({"name": "text_length_filter", "rows_in": 1999, "rows_out": len(expected)}, told["operators"][-1])
        self.assertEqual([701], [json.loads(line)["line"] for line in (attempt / "failed-records.jsonl").read_text().splitlines()])
        noted = (self.folder / "noted").read_text().split()
        self.assertEqual(set(map(str, range(2000))), set(noted))
        self.assertEqual([1] * 472 + [2] * 32 + [1] * 496, [noted.count(str(i)) for i in range(1000, 2000)],
                         "what was committed was processed once, what was not was processed again")


if __name__ == "__main__":
    unittest.main()
