"""Records that operators fail on: found by halving what was processed together, and set aside."""

import hashlib
import json
import os

from caravan_runner import outcome
from caravan_runner.ray_folder import log

FILE = "failed-records.jsonl"
HOPELESS = 10  # so many records fail alone and none passes: then no record is to blame


class TooManyFailed(Exception):
    """More records fail than the job allows."""


class Inseparable(Exception):
    """The failure cannot be blamed on records one by one."""


class Poison:
    """Of one shard."""

    def __init__(self, attempt_dir, allowed, sources):
        """allowed: how many records may be set aside."""
        self.attempt_dir, self.allowed, self.sources = attempt_dir, allowed, sources
        self.failed = []
        self.any_passed = False

    def without(self, lines, first, run, error):
        """What `run` makes of the lines without those that fail alone.

        lines: list of bytes. first: number of the first of them in the shard, from 1. error: of `run` over all of them.
        Those that are left are processed together once more, so that batches are as if the others had never been.
        """
        before = len(self.failed)
        self._find(0, lines, first, run, error)
        found = self.failed[before:]
        log(f"the operators fail on {len(found)} records, which are set aside; the first is line {found[0]['line']}: "
            f"{found[0]['error'][:300]}")
        bad = {row["line"] - first for row in found}
        try:
            return run([line for i, line in enumerate(lines) if i not in bad])
        except Exception as e:
            raise Inseparable(f"without {len(found)} records that fail alone the others fail too: {outcome.describe(e)}") from e

    def _find(self, start, lines, first, run, error):
        """lines: known to fail together; the first is number `start` of those that `first` is about."""
        if outcome.is_infra(error):
            raise error
        if len(lines) == 1:
            self._set_aside(first + start, lines[0], error)
            return
        middle = len(lines) // 2
        failures = 0
        for at, half in ((start, lines[:middle]), (start + middle, lines[middle:])):
            try:
                run(half)
                self.any_passed = True
            except Exception as e:
                failures += 1
                self._find(at, half, first, run, e)
        if not failures:
            raise Inseparable(f"records fail together, but none of them does alone: {outcome.describe(error)}") from error

    def _set_aside(self, number, line, error):
        if len(self.failed) >= self.allowed:
            self._write()
            raise TooManyFailed(f"more than {max(0, self.allowed)} further records fail, the last with "
                                f"{outcome.describe(error)}") from error
        self.failed.append({"line": number, "sha256": hashlib.sha256(line.rstrip(b"\n")).hexdigest(),
                            **outcome.culprit(error, self.sources)})
        if not self.any_passed and len(self.failed) >= HOPELESS:
            raise Inseparable(f"the first {HOPELESS} records fail, each alone: {outcome.describe(error)}") from error

    def restore(self, failed):
        """Records that an earlier attempt has set aside, among others that passed."""
        self.failed += failed
        self.any_passed = True

    def end(self, records):
        """records: how many the shard has."""
        if self.failed and len(self.failed) == records:
            raise Inseparable(f"all {records} records fail, each alone: {self.failed[0]['error']}")
        self._write()

    def _write(self):
        if self.failed:
            with open(os.path.join(self.attempt_dir, FILE), "w", encoding="utf-8") as f:
                f.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in self.failed)
                f.flush()
                os.fsync(f.fileno())
