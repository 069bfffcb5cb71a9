"""What of a shard is done for good, in units: so a later attempt goes on behind the last committed one.

A folder for each shard, in it a file for each attempt, which that attempt alone appends to. The file is a chain of
entries: a line of JSON, the unit's output, a line feed. The line holds the SHA-256 of all that comes before it and of the
entry itself, so an entry that was cut off, or is not what was written, ends what is read of its file. The first entry
holds no unit but the identity: what must be the same for the outputs to be those that this attempt would make.
"""

import hashlib
import json
import os
from collections.abc import Mapping

from caravan_runner.ray_folder import log as say

SUFFIX = ".log"


class OtherIdentity(Exception):
    """Units were committed by work that is not the same."""

    advice = "undo the change; or, to start anew, remove the checkpoint or name another path for it"


class CommitLog:
    @classmethod
    def open(cls, folder, attempt, identity):
        """Reads what earlier attempts committed and starts the file of this one.

        attempt: a name that no other attempt has. identity: {name: what JSON can say}.
        """
        identity = json.loads(_dumps(identity))
        os.makedirs(folder, exist_ok=True)
        committed = Committed()
        for name in sorted(os.listdir(folder)):
            if name.endswith(SUFFIX):
                committed.add(os.path.join(folder, name), identity)
        return cls(os.path.join(folder, attempt + SUFFIX), identity, committed)

    def __init__(self, path, identity, committed):
        self._committed = committed
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        self._chain = b""
        try:
            self._append([({"identity": identity}, b"")])
            _sync_folder(os.path.dirname(path))
        except BaseException:
            self.close()
            raise

    def committed(self):
        """{key: (output, meta)} of all earlier attempts; outputs are read when asked for."""
        return self._committed

    def commit(self, key, output, meta):
        """Once this returns, the unit is done for good. key: text. output: bytes. meta: what JSON can say."""
        self.commit_all([(key, output, meta)])

    def commit_all(self, units):
        """Units (key, output, meta) that share one wait for the disk."""
        self._append([({"key": key, "meta": meta}, output) for key, output, meta in units])

    def _append(self, entries):
        if self._file is None:
            raise ValueError("the commit log is closed, or could not be written before")
        data, chain = [], self._chain
        for head, output in entries:
            head = {**head, "bytes": len(output)}
            chain = _next(chain, head, output)
            data += [_dumps({**head, "chain": chain.hex()}).encode(), b"\n", output, b"\n"]
        try:
            _write(self._file, b"".join(data))
            os.fsync(self._file)
        except OSError:
            # what of it is on the disk is not known: what readers find whole is right all the same, but nothing may follow
            self.close()
            raise
        self._chain = chain

    def close(self):
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Committed(Mapping):
    """Units of several files; of a unit that is in more than one, the first counts."""

    def __init__(self):
        self._units = {}

    def add(self, path, identity):
        """@raise OtherIdentity. identity: None for units of whatever work."""
        whole = 0
        with open(path, "rb") as f:
            for head, start in _entries(f):
                whole = f.tell()
                if "identity" in head and identity is None:
                    continue
                if "identity" in head:
                    _require_same(path, head["identity"], identity)
                else:
                    self._units.setdefault(head["key"], (path, start, head["bytes"], head["meta"]))
            rest = os.fstat(f.fileno()).st_size - whole
        if rest > 0:
            say(f"{path}: the last {rest} bytes are no whole entry and do not count")

    def meta(self, key):
        return self._units[key][3]

    def __getitem__(self, key):
        path, start, size, meta = self._units[key]
        with open(path, "rb") as f:
            f.seek(start)
            return f.read(size), meta

    def __iter__(self):
        return iter(self._units)

    def __len__(self):
        return len(self._units)


def _entries(f):
    """(head, where the output starts) of each entry up to the first that is not whole; f stands behind it then."""
    chain = b""
    while True:
        try:
            head = json.loads(f.readline())
            said = head.pop("chain")
            start = f.tell()
            output = f.read(head["bytes"])
            chain = _next(chain, head, output)
            if len(output) != head["bytes"] or f.read(1) != b"\n" or said != chain.hex():
                return
        except (ValueError, KeyError, TypeError, AttributeError):
            return
        yield head, start


def _next(chain, head, output):
    digest = hashlib.sha256(chain)
    digest.update(_dumps(head).encode())
    digest.update(output)
    return digest.digest()


def _require_same(path, before, now):
    differing = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    if differing:
        what = "; ".join(f"{name} was {_short(before.get(name))}, is {_short(now.get(name))}" for name in differing)
        raise OtherIdentity(f"the checkpoint {path} was made by other work: {what}")


def _short(value):
    text = _dumps(value)
    return text if len(text) <= 300 else text[:300] + "..."


def _dumps(value):
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _write(file, data):
    view = memoryview(data)
    while view:
        view = view[os.write(file, view):]


def _sync_folder(path):
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
