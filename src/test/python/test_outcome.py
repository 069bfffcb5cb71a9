"""Whose fault a failure is, what is said of it, and that an outcome file is whole."""

import errno
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "src/main/python"))

import ray.exceptions as rx  # noqa: E402

from caravan_runner import outcome  # noqa: E402
from caravan_runner.compat import PackageNotInstalled  # noqa: E402
from caravan_runner.ray_folder import RayStartError  # noqa: E402

REMOTE = """ray::MapBatches(process_single)() (pid=7)
  File "/x/data_juicer/ops/base_op.py", line 257, in wrapper
    res = method(sample, *args, **kwargs)
  File "/tmp/cv-1/modules/mine.py", line 58, in process_single
    raise ValueError("bad row")
ValueError: bad row

The above exception was the direct cause of the following exception:

ray::MapBatches(process_single)() (pid=7)
ray.exceptions.UserCodeException: UDF failed to process a data block."""


def remote(cause, text=REMOTE):
    error = rx.RayTaskError("f", text, cause)
    return error.as_instanceof_cause()


def actor_that_failed_at_its_start():
    error = rx.RayTaskError("f", REMOTE, ValueError("no such model"))
    error._actor_id = "ab"
    return rx.ActorDiedError(error)


def raised(outer, inner):
    try:
        raise outer from inner
    except BaseException as e:
        return e


class OutcomeTest(unittest.TestCase):
    def failure(self, error, *sources):
        return outcome.failure(error, list(sources))

    def test_what_the_machine_is_to_blame_for(self):
        for error in (RayStartError("no"), OSError(errno.ENOSPC, "full"), OSError(errno.EDQUOT, "quota"), MemoryError(),
                      rx.WorkerCrashedError(), rx.OutOfMemoryError("oom"), rx.OutOfDiskError("spill"),
                      rx.LocalRayletDiedError(), rx.NodeDiedError("gone"), rx.ObjectStoreFullError("full"),
                      rx.ActorDiedError(), rx.RaySystemError(RuntimeError("lost")), rx.RuntimeEnvSetupError("pip"),
                      rx.OwnerDiedError("ab", "addr", "x"), outcome.InputMissing("x"), outcome.NotEnoughResources("x"),
                      outcome.Terminated("SIGTERM"), remote(OSError(errno.ENOSPC, "full")),
                      raised(RuntimeError("export"), OSError(errno.ENOSPC, "full")),
                      RuntimeError("pyarrow: No space left on device")):
            self.assertEqual("infra", self.failure(error)["failure_class"], repr(error))

    def test_what_data_and_recipe_are_to_blame_for(self):
        for error in (ValueError("x"), remote(ValueError("x")), remote(rx.UserCodeException("UDF failed")), KeyError("text"),
                      FileNotFoundError(errno.ENOENT, "no image"), ConnectionError("an operator's own service"),
                      actor_that_failed_at_its_start(), PackageNotInstalled("torch"),
                      rx.RaySystemError(ModuleNotFoundError("No module named 'mine'"))):
            self.assertEqual("data", self.failure(error)["failure_class"], repr(error))

    def test_the_operators_own_error_is_told(self):
        self.assertEqual("ValueError: bad row", self.failure(remote(rx.UserCodeException("UDF failed")))["error"])
        self.assertEqual("ValueError: inner", self.failure(remote(ValueError("inner")))["error"])
        self.assertEqual("RayStartError: twice", self.failure(raised(RayStartError("twice"), OSError("port")))["error"])
        self.assertTrue(self.failure(raised(rx.WorkerCrashedError(), Exception()))["error"].startswith("WorkerCrashedError: "))

    def test_the_operator_is_the_one_whose_code_is_deepest(self):
        error = remote(rx.UserCodeException("UDF failed"))
        self.assertEqual("my_mapper", self.failure(error, ("/modules/mine.py", 50, 60, "my_mapper"), ("/modules/mine.py", 10, 20, "other_mapper"))["operator"])
        self.assertEqual("only_mapper", self.failure(error, ("/modules/mine.py", 1, 2, "only_mapper"))["operator"])
        self.assertIsNone(self.failure(error, ("/modules/another.py", 1, 99, "my_mapper"))["operator"])

    def test_advice_says_what_to_do(self):
        self.assertIn("free disk space", self.failure(OSError(errno.ENOSPC, "full"))["advice"])
        self.assertIn("more memory", self.failure(rx.OutOfMemoryError("x"))["advice"])
        self.assertIn("num_gpus", self.failure(outcome.NotEnoughResources("x"))["advice"])
        self.assertIn("python.executable", self.failure(PackageNotInstalled("torch"))["advice"])
        self.assertEqual("try this", self.failure(RayStartError("x", "try this"))["advice"])
        self.assertIsNone(self.failure(ValueError("x"))["advice"])
        self.assertIsNone(self.failure(actor_that_failed_at_its_start())["advice"])

    def test_the_file_is_whole_and_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome.write(folder, {"ok": False, "error": "old"})
            outcome.write(folder, {"ok": True, "error": "\u2003 ümlaut"})
            self.assertEqual(["outcome.json"], [p.name for p in Path(folder).iterdir()])
            self.assertEqual({"ok": True, "error": "\u2003 ümlaut"}, json.loads(Path(folder, "outcome.json").read_text("utf-8")))


if __name__ == "__main__":
    unittest.main()
