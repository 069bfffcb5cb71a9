"""Folders and processes of a private Ray, without starting one."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "src/main/python"))

from caravan_runner import ray_folder, ray_local  # noqa: E402

HOLD_A_FOLDER = """
import sys, os
from caravan_runner import ray_folder
folder, lock = ray_folder.private_folder()
os.environ[ray_folder.MARK] = folder
import subprocess
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
print(folder, child.pid, flush=True)
sys.stdin.read()
"""


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class RayFolderTest(unittest.TestCase):
    def test_a_long_temporary_folder_is_passed_over(self):
        with tempfile.TemporaryDirectory(prefix="x" * 60) as long:
            with mock.patch.object(tempfile, "tempdir", long):
                folder, lock = ray_folder.private_folder()
        self.addCleanup(os.rmdir, folder)
        self.addCleanup(os.unlink, os.path.join(folder, ray_folder.OWNER))
        self.addCleanup(os.close, lock)
        self.assertLessEqual(len(os.fsencode(folder)), 40)
        self.assertFalse(folder.startswith(long))
        self.assertEqual(0o700, os.stat(folder).st_mode & 0o777)

    def test_what_a_dead_attempt_left_is_removed_and_a_live_one_is_not_touched(self):
        holder = subprocess.Popen([sys.executable, "-c", HOLD_A_FOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "PYTHONPATH": str(Path(ray_folder.__file__).parents[1])})
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.stdin.close)
        folder, child = holder.stdout.readline().split()
        deadline = time.monotonic() + 60
        while int(child) not in ray_folder.processes_of(folder):  # its environment is seen a moment after it started
            self.assertLess(time.monotonic(), deadline, "the child is never found")

        ray_folder.sweep()
        self.assertTrue(os.path.isdir(folder), "its owner lives")
        self.assertTrue(runs(child))

        holder.kill()
        holder.wait()
        ray_folder.sweep()
        self.assertFalse(os.path.exists(folder))
        self.assertFalse(runs(child), "the child of a dead attempt lives on")

    def test_a_folder_without_a_lock_is_not_ours_to_remove(self):
        folder = tempfile.mkdtemp(prefix=ray_folder.PREFIX, dir="/tmp")
        self.addCleanup(os.rmdir, folder)
        ray_folder.sweep()
        self.assertTrue(os.path.isdir(folder))

    def test_no_usable_place_is_said_with_the_reason(self):
        with mock.patch.object(tempfile, "mkdtemp", side_effect=PermissionError(13, "Permission denied")):
            with self.assertRaisesRegex(ray_folder.RayStartError, r"no place .* /tmp \(Permission denied\)"):
                ray_folder.private_folder()


class EnvironmentTest(unittest.TestCase):
    def test_nothing_of_another_ray_leaks_in(self):
        environ = {"RAY_ADDRESS": "1.2.3.4:6379", "RAY_NAMESPACE": "x", "PYTHONDONTWRITEBYTECODE": "1",
                   "http_proxy": "http://10.255.255.1:3128", "no_proxy": "example.org"}
        done = subprocess.run([sys.executable, "-c", "import json, os; from caravan_runner import ray_local; "
                               "ray_local.prepare_environment(); print(json.dumps(dict(os.environ)))"],
                              capture_output=True, text=True, check=True,
                              env={**environ, "PYTHONPATH": str(Path(ray_local.__file__).parents[1])})
        import json
        got = json.loads(done.stdout)
        self.assertFalse({"RAY_ADDRESS", "RAY_NAMESPACE", "PYTHONDONTWRITEBYTECODE"} & set(got))
        self.assertEqual("token", got["RAY_AUTH_MODE"])
        self.assertEqual(64, len(got["RAY_AUTH_TOKEN"]))
        self.assertEqual("http://10.255.255.1:3128", got["http_proxy"], "the user's downloads still need it")
        for key in ("no_proxy", "NO_PROXY"):
            self.assertEqual("example.org,127.0.0.1,localhost,::1", got[key])

    def test_cores_that_may_not_be_used_do_not_count(self):
        done = subprocess.run([sys.executable, "-c", "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
                               "from caravan_runner import ray_local; print(ray_local.usable_cpus())"],
                              capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": str(Path(ray_local.__file__).parents[1])})
        self.assertEqual("1", done.stdout.strip())

    def test_a_store_larger_than_shared_memory_is_refused_with_the_way_out(self):
        with self.assertRaisesRegex(ray_folder.RayStartError, "/dev/shm has") as refused:
            ray_local.check_store(1 << 60)
        self.assertIn("--shm-size", refused.exception.advice)


if __name__ == "__main__":
    unittest.main()
