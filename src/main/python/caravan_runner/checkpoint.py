"""The record checkpoint of a shard: it is committed in units of some seconds of work, and what earlier attempts have
committed is neither read nor processed again.

A unit ends where a portion of the shard ends, and portions are cut in the same way wherever the reading begins: so
operators see the batches that they would see without an interruption.
"""

import hashlib
import os
import time

from caravan_runner import identity
from caravan_runner.commit_log import CommitLog
from caravan_runner.outcome import InputMissing
from caravan_runner.ray_folder import log

BLOCK = 8 << 20  # bytes of a shard that have a checksum of their own
BLOCKS = "blocks"
MOST_BYTES = 64 << 20  # of output, which a unit holds in memory


class InputChanged(Exception):
    """The input is not what was prepared."""

    advice = "restore the input and run 'caravan retry', or prepare a new job"


class Checkpoint:
    def __init__(self, request):
        asked = request["checkpoint"]
        same = identity.of_recipe(request["recipe"], request.get("recipe_dir"))
        same.update(asked["identity"])
        self.seconds = asked["seconds"]
        self.log = CommitLog.open(asked["folder"], asked["attempt"], same)
        try:
            self.units = list(_connected(self.log.committed()))
            self.rows = sum(meta["rows"] for _, meta in self.units)
            self.offset = sum(meta["input_bytes"] for _, meta in self.units)  # of the first byte that is not done
            self.restored = self.rows
            self.start = self.offset  # the same in the file that the shard is read from
            if asked.get("ranges"):
                self._cut(asked, request["input"])
        except BaseException:
            self.log.close()
            raise
        self._begin_unit()
        if self.units:
            log(f"{self.rows} records were committed by earlier attempts; going on behind them")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.log.close()

    def _cut(self, asked, target):
        """Makes a file of the part of the input that is not done, and makes sure that it is what was prepared."""
        known = self.log.committed().get(BLOCKS)
        first = self.offset // BLOCK if known else 0
        self.start = self.offset - first * BLOCK
        whole, blocks = hashlib.sha256(), []
        try:
            with open(target, "wb") as out:
                for block in _blocks(asked["ranges"], first * BLOCK):
                    out.write(block)
                    whole.update(block)
                    blocks.append(hashlib.sha256(block).hexdigest())
        except FileNotFoundError as e:
            raise InputMissing(f"the shard's input cannot be read on this node: {e}") from e
        same = blocks == known[1]["sha256"][first:] if known else whole.hexdigest() == asked["sha256"]
        if not same:
            places = ", ".join(f"{r['file']} (bytes {r['offset']} to {r['offset'] + r['length']})" for r in asked["ranges"])
            raise InputChanged(f"the input was changed after the job was prepared: expected the bytes of a shard with sha256 "
                               f"{asked['sha256']}, found others in {places}")
        if not known:
            self.log.commit(BLOCKS, b"", {"sha256": blocks})

    def restore(self, out):
        """Writes what was committed; (counts of the operators, failed records) of each unit."""
        for key, meta in self.units:
            out.write(self.log.committed()[key][0])
            yield meta["counts"], meta["failed"]

    def add(self, lines, output, counts, failed):
        """The next portion is done. failed: records of it that were set aside."""
        self.lines += len(lines)
        self.bytes += sum(map(len, lines))
        self.outputs.append(output)
        self.failed += failed
        add_counts(self.counts, counts)
        if time.monotonic() - self.began >= self.seconds or sum(map(len, self.outputs)) >= MOST_BYTES:
            self.commit()

    def commit(self):
        """What was added since the last time is done for good."""
        if not self.lines:
            return
        meta = {"first": self.rows, "rows": self.lines, "input_bytes": self.bytes, "counts": self.counts, "failed": self.failed}
        self.log.commit(f"{self.rows}+{self.lines}", b"".join(self.outputs), meta)
        self.rows += self.lines
        self._begin_unit()

    def _begin_unit(self):
        self.began = time.monotonic()
        self.lines, self.bytes, self.outputs, self.counts, self.failed = 0, 0, [], [], []

    def told(self):
        """For the outcome: what did not have to be done."""
        return {"restored_units": len(self.units), "restored_rows": self.restored, "unread_bytes": self.offset - self.start}


def add_counts(totals, counts):
    """Adds (name, rows in, rows out) of each operator to [[name, rows in, rows out]]."""
    for i, (name, rows_in, rows_out) in enumerate(counts):
        if i == len(totals):
            totals.append([name, 0, 0])
        totals[i][1] += rows_in
        totals[i][2] += rows_out


def _connected(committed):
    """(key, meta) of the units from the first record on that follow each other without a gap; of several the longest."""
    by_first = {}
    for key in committed:
        meta = committed.meta(key)
        if key != BLOCKS and meta["rows"] > by_first.get(meta["first"], (None, {"rows": 0}))[1]["rows"]:
            by_first[meta["first"]] = (key, meta)
    row = 0
    while row in by_first:
        yield by_first[row]
        row += by_first[row][1]["rows"]


def _blocks(ranges, skip):
    """The bytes of a shard from `skip` on, in blocks; a line that the end of a file ends has a line feed here too."""
    waiting = bytearray()
    for part in ranges:
        with open(part["file"], "rb") as f:
            end = part["offset"] + part["length"]
            f.seek(end - 1)
            length = part["length"] + (f.read(1) != b"\n")
            if skip >= length:
                skip -= length
                continue
            f.seek(part["offset"] + skip)
            skip = 0
            while f.tell() < end:
                piece = f.read(min(BLOCK, end - f.tell()))
                if not piece:
                    break
                waiting += piece
                if f.tell() == end and length > part["length"]:
                    waiting += b"\n"
                while len(waiting) >= BLOCK:
                    yield bytes(waiting[:BLOCK])
                    del waiting[:BLOCK]
    if waiting:
        yield bytes(waiting)
