"""Carries records around Data-Juicer's own executor: it gets the keys that operators look at and a row number, and what
it leaves is put back into the records as they were. So rows have an order to prove, and whatever no operator touched
keeps its bytes, although Data-Juicer's reader infers one type for each key from all records of a shard.
"""

import datetime
import os
from itertools import groupby, islice

from caravan_runner import chain, records

FILE = "carried.jsonl"
# What of a recipe changes how records are read or written, so that Data-Juicer has to do both.
OWN_FORMS = ("decrypt_after_reading", "encrypt_before_export", "export_extra_args", "generated_dataset_config", "read_options")


def obstacle(cfg):
    """Why records cannot be carried around the executor, or None."""
    return next((f"{setting} changes how records are read or written" for setting in OWN_FORMS if cfg.get(setting)), None)


def write(source, target, wanted):
    """The file that the executor reads instead of the shard. wanted: keys that operators may look at, None for all."""
    with open(source, "rb") as lines, open(target, "w", encoding="utf-8") as out:
        for number, line in enumerate(lines):
            text = line.decode("utf-8").rstrip("\n")
            kept = {key: text[start:end] for key, start, _, end, _ in records.members(text)  # of a key twice the last
                    if wanted is None or key in wanted or key.startswith("__dj__")}
            kept[chain.ROW] = f'"{chain.ROW}": {number}'
            out.write("{" + ", ".join(kept.values()) + "}\n")


class Restored:
    """Puts the executor's rows, in their order, back into the lines of the shard."""

    def __init__(self, source, wanted, hidden, out):
        self.source, self.wanted, self.hidden, self.out = source, wanted, hidden, out
        self.rows, self.first, self.read = None, 0, 0

    def add(self, columns):
        """columns: {name: list of values}, one after the other as the executor leaves them."""
        order = columns.get(chain.ROW)
        if order is None or any(type(row) is not int for row in order):
            raise chain.CannotFollow("rows were built anew, so that nobody knows which record they come from")
        start = 0
        for portion, run in groupby(order, key=lambda row: row // chain.TABLE_ROWS):
            end = start + len(list(run))
            self._reach(portion)
            self._write({k: v[start:end] for k, v in columns.items()})
            start = end

    def _reach(self, portion):
        if portion * chain.TABLE_ROWS < self.first:
            raise chain.CannotFollow("the order of the rows was changed")
        while self.rows is None or portion * chain.TABLE_ROWS > self.first:
            data = b"".join(islice(self.source, chain.TABLE_ROWS))
            if not data:
                raise chain.CannotFollow("a row number that no record has")
            self.rows, self.first = chain.Rows(data, self.wanted), self.read
            self.read += chain.TABLE_ROWS

    def _write(self, columns):
        order = [row - self.first for row in columns[chain.ROW]]
        known = self.rows.scalars
        written = {chain.ROW: order}
        for key, values in columns.items():
            if key == chain.ROW:
                continue
            originals = (known[key][row] for row in order) if key in known else (None for _ in order)
            try:
                written[key] = [undrifted(original, value) for original, value in zip(originals, values)]
            except records.CannotWrite as e:
                raise chain.CannotFollow(f"key {key} holds {e}") from e
        self.out.write(self.rows.result(written, self.hidden))


def undrifted(original, value):
    """What an operator left, without what the reader's one type for all records of a key made of it: nulls where the
    record had nothing, floats of integers, times of strings that look like some."""
    if isinstance(value, datetime.datetime):
        return original if type(original) is str and _time(original) == value.replace(tzinfo=None) else value.isoformat()
    if isinstance(value, datetime.date):
        return original if type(original) is str and original == value.isoformat() else value.isoformat()
    if isinstance(value, dict):
        kept = original if type(original) is dict else {}
        return {k: undrifted(kept.get(k), v) for k, v in value.items() if v is not None or k in kept}
    if isinstance(value, (list, tuple)):
        kept = original if type(original) is list and len(original) == len(value) else [None] * len(value)
        return [undrifted(a, b) for a, b in zip(kept, value)]
    if type(value) is float and type(original) is int and _as_float(original) == value:
        return original
    return records.plain(value)


def _time(text):
    try:
        parsed = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return parsed.astimezone(datetime.timezone.utc).replace(tzinfo=None) if parsed.tzinfo else parsed


def _as_float(number):
    try:
        return float(number)
    except OverflowError:
        return None


def export_to(path, source, wanted, hidden):
    """A function in place of the exporter's own."""

    def export(dataset, columns=None):
        part = path + ".part"
        with open(source, "rb") as lines, open(part, "wb") as out:
            restored = Restored(lines, wanted, hidden, out)
            for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
                if batch.num_rows:
                    restored.add(batch.to_pydict())
            out.flush()
            os.fsync(out.fileno())
        os.replace(part, path)

    return export
