"""Which records are set aside, and when none is."""

import hashlib
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "src/main/python"))
from caravan_runner import poison  # noqa: E402


class PoisonTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.runs = 0

    def run_over(self, lines, fails, allowed=100):
        def run(some):
            self.runs += 1
            if fails(some):
                raise ValueError(f"{sum(b'bad' in line for line in some)} bad")
            return some

        found = poison.Poison(self.folder, allowed, [])
        try:
            run(lines)
        except ValueError as e:
            return found, found.without(lines, 11, run, e)

    def rows(self):
        return [json.loads(line) for line in (self.folder / poison.FILE).read_text("utf-8").splitlines()]

    @staticmethod
    def holds_bad(some):
        return any(b"bad" in line for line in some)

    def test_guilty_records_are_set_aside_with_line_hash_and_error(self):
        lines = [b"bad %d\n" % i if i in (3, 4, 700) else b"good %d\n" % i for i in range(1000)]
        found, left = self.run_over(lines, self.holds_bad)
        found.end(1000)
        self.assertEqual([line for line in lines if b"good" in line], left)
        self.assertEqual([14, 15, 711], [row["line"] for row in self.rows()])
        self.assertEqual(hashlib.sha256(b"bad 700").hexdigest(), self.rows()[2]["sha256"])
        self.assertEqual([("ValueError: 1 bad", "ValueError", None)] * 3,
                         [(row["error"], row["error_class"], row["operator"]) for row in self.rows()])
        self.assertEqual(1, len({row["stack_sha256"] for row in self.rows()}), "the same fault")
        self.assertLess(self.runs, 70)

    def test_records_that_fail_only_together_are_not_to_blame(self):
        with self.assertRaisesRegex(poison.Inseparable, "none of them does alone"):
            self.run_over([b"x\n"] * 64, lambda some: len(some) >= 3)

    def test_an_operator_that_fails_on_everything_is_given_up_soon(self):
        with self.assertRaisesRegex(poison.Inseparable, "the first 10 records fail"):
            self.run_over([b"bad\n"] * 1000, self.holds_bad)
        self.assertLess(self.runs, 40)
        found, left = self.run_over([b"bad\n"] * 3, self.holds_bad)
        self.assertEqual([], left)
        with self.assertRaisesRegex(poison.Inseparable, "all 3 records fail"):
            found.end(3)
        self.assertFalse((self.folder / poison.FILE).exists())

    def test_more_than_are_allowed_end_the_search(self):
        lines = [b"good\n", b"bad\n"] * 20
        with self.assertRaisesRegex(poison.TooManyFailed, "more than 2 further records fail"):
            self.run_over(lines, self.holds_bad, allowed=2)
        self.assertEqual([12, 14], [row["line"] for row in self.rows()])

    def test_a_full_disk_is_nobodys_fault(self):
        def run(some):
            raise OSError(28, "No space left on device")

        with self.assertRaises(OSError):
            poison.Poison(self.folder, 100, []).without([b"a\n", b"b\n"], 1, run, OSError(28, "No space left on device"))


if __name__ == "__main__":
    unittest.main()
