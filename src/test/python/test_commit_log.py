"""What a commit log keeps of attempts that end in every way."""

import contextlib
import io
import os
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUNNER = Path(__file__).resolve().parents[3] / "src/main/python"
sys.path.insert(0, str(RUNNER))
from caravan_runner.commit_log import Committed, CommitLog, OtherIdentity  # noqa: E402

IDENTITY = {"engine": "some", "recipe_sha256": "aa", "arguments": ["-x", 1]}
WRITER = f"""
import sys
sys.path.insert(0, {str(RUNNER)!r})
from caravan_runner.commit_log import CommitLog

log = CommitLog.open(sys.argv[1], "0001-a", {IDENTITY!r})
for number in range(int(sys.argv[2])):
    log.commit(str(number), bytes([number % 251]) * int(sys.argv[3]), {{"number": number}})
    print(number, flush=True)
"""


class CommitLogTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name, "checkpoints", "part-00000-of-00001")

    def open(self, attempt, identity=IDENTITY):
        log = CommitLog.open(self.folder, attempt, identity)
        self.addCleanup(log.close)
        return log

    def write(self, attempt, *units):
        log = self.open(attempt)
        for unit in units:
            log.commit(*unit)
        log.close()
        return self.folder / f"{attempt}.log"

    @staticmethod
    def read(path):
        found = Committed()
        with contextlib.redirect_stderr(io.StringIO()):
            found.add(path, IDENTITY)
        return dict(found)

    def write_in_child(self, units, size, **how):
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(self.folder), str(units), str(size)],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        return child

    def test_a_later_attempt_finds_the_units_of_all_earlier_ones(self):
        self.write("0001-a", ("1", b'{"x":1}\n', {"rows": 1}), ("2", b"", {"rows": 0}))
        self.write("0002-b", ("3", b"\n{\x00\xff", {"name": "ä\u2028"}), ("1", b"made twice", {}))
        found = self.open("0003-c").committed()
        self.assertEqual({"1": (b'{"x":1}\n', {"rows": 1}), "2": (b"", {"rows": 0}), "3": (b"\n{\x00\xff", {"name": "ä\u2028"})},
                         dict(found))
        self.assertEqual({"rows": 1}, found.meta("1"))

    def test_its_own_units_are_not_those_of_earlier_attempts(self):
        log = self.open("0001-a")
        log.commit_all([("1", b"x", {}), ("2", b"y", {})])
        self.assertEqual({}, dict(log.committed()))
        self.assertEqual({"1": (b"x", {}), "2": (b"y", {})}, dict(self.open("0002-b").committed()), "while it is open")

    def test_two_attempts_never_write_to_one_file(self):
        self.write("0001-a", ("1", b"x", {}))
        with self.assertRaises(FileExistsError):
            self.open("0001-a")

    def test_wherever_a_file_is_cut_off_the_units_before_count(self):
        path = self.write("0001-a", ("1", b"first\n", {"n": 1}), ("2", b"second\n", {"n": 2}))
        data = path.read_bytes()
        ends = [data.index(b"first\n\n") + 7, len(data)]
        for size in range(len(data) + 1):
            path.write_bytes(data[:size])
            self.assertEqual([str(i + 1) for i, end in enumerate(ends) if size >= end], list(self.read(path)), size)

    def test_wherever_a_byte_is_flipped_no_unit_from_there_on_counts(self):
        path = self.write("0001-a", ("1", b"first\n", {"n": 1}), ("2", b"second\n", {"n": 2}))
        data = path.read_bytes()
        entry = data.index(b"first\n\n") + 7
        for at in range(len(data)):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
            found = self.read(path)
            self.assertIn(found, ({}, {"1": (b"first\n", {"n": 1})}), at)
            self.assertLessEqual(len(found), int(at >= entry), at)

    def test_entries_of_another_file_do_not_continue_a_chain(self):
        one = self.write("0001-a", ("1", b"x", {}))
        other = self.write("0002-b", ("9", b"z", {}), ("2", b"y", {}))
        one.write_bytes(one.read_bytes() + other.read_bytes().splitlines(keepends=True)[-2] + b"y\n")
        other.unlink()
        self.assertEqual(["1"], list(self.open("0003-c").committed()))

    def test_what_differs_in_the_identity_is_named(self):
        self.write("0001-a", ("1", b"x", {}))
        with self.assertRaises(OtherIdentity) as refused:
            self.open("0002-b", {"engine": "some", "recipe_sha256": "bb", "arguments": ("-x", 1), "model": "new"})
        self.assertIn('other work: model was null, is "new"; recipe_sha256 was "aa", is "bb"', str(refused.exception))
        self.assertEqual(["0001-a.log"], os.listdir(self.folder), "the refused attempt left nothing")
        self.assertEqual(["1"], list(self.open("0003-c", {"arguments": ("-x", 1), **IDENTITY}).committed()))

    def test_a_file_that_has_not_even_an_identity_is_no_obstacle(self):
        self.folder.mkdir(parents=True)
        (self.folder / "0001-a.log").write_bytes(b"")
        self.assertEqual({}, dict(self.open("0002-b", {"other": 1}).committed()))

    def test_units_committed_before_a_kill_are_there_and_whole(self):
        child = self.write_in_child(100_000, 300_000)
        for number in range(5):
            self.assertEqual(f"{number}\n", child.stdout.readline())
        os.kill(child.pid, signal.SIGKILL)
        told = 5 + len(child.stdout.read().splitlines())
        self.assertEqual(-signal.SIGKILL, child.wait())
        found = self.open("0002-b").committed()
        self.assertIn(len(found), (told, told + 1), "the last one may have been committed and not told")
        for number in range(len(found)):
            self.assertEqual((bytes([number % 251]) * 300_000, {"number": number}), found[str(number)])

    def test_a_process_that_dies_in_the_middle_of_an_append_leaves_a_tail_that_does_not_count(self):
        def die_at_one_megabyte():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        child = self.write_in_child(10, 300_000, preexec_fn=die_at_one_megabyte, restore_signals=False)
        self.assertNotEqual(0, child.wait())
        self.assertEqual(1 << 20, (self.folder / "0001-a.log").stat().st_size, "the fourth unit is there in part")
        self.assertEqual(["0", "1", "2"], list(self.open("0002-b").committed()))

    def test_a_full_disk_is_an_error_that_tells_so_and_spoils_nothing(self):
        small = self.folder.parent
        small.mkdir()
        mounted = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=1m small "$1" && shift && '
                   '{ "$@"; status=$?; cp -r "$0"/. "$OUT"; exit $status; }', str(small), str(small)]
        out = self.folder.parent.parent / "out"
        out.mkdir()
        child = subprocess.run([*mounted, sys.executable, "-c", WRITER, str(self.folder), "10", "300000"],
                               capture_output=True, text=True, env={**os.environ, "OUT": str(out)})
        self.assertEqual("0\n1\n2\n", child.stdout, child.stderr)
        self.assertIn("OSError: [Errno 28] No space left on device", child.stderr)
        self.folder = out / self.folder.name
        self.assertEqual(["0", "1", "2"], list(self.open("0002-b").committed()))

    def test_nothing_follows_a_failed_append(self):
        log = self.open("0001-a")
        log.commit("1", b"x", {})
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        size = (self.folder / "0001-a.log").stat().st_size
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, before[1]))
            with self.assertRaises(OSError):
                log.commit("2", b"y" * 100, {})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        with self.assertRaisesRegex(ValueError, "could not be written before"):
            log.commit("3", b"z", {})
        self.assertEqual(["1"], list(self.open("0002-b").committed()))


if __name__ == "__main__":
    unittest.main()
