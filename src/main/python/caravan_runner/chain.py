"""A run of Data-Juicer operators over rows of JSON text, called as Data-Juicer's RayDataset calls them.

Operators get a dictionary of lists: what their own wrapper makes of the Arrow table that RayDataset hands over. No table
comes between, so no type is inferred: a digit string, a date or an integer beyond 64 bits is what the record says.

`__dj__stats__` and `__dj__meta__`: kept in the result unless the recipe itself says `keep_stats_in_res_ds: false`. The
parser's default is false, but Data-Juicer 1.6.1's exporter for Ray drops them only if the input has them: kept is what
dj-process does by default, and an explicit `false` is followed here although it has no effect there.
"""

import contextlib
import os

from caravan_runner import records

ROW = "__dj__caravan_row__"
STATS, META = "__dj__stats__", "__dj__meta__"
TABLE_ROWS = 1000  # Data-Juicer's DEFAULT_BATCH_SIZE, in which masks are applied


class CannotFollow(Exception):
    """What an operator did cannot be put back into the records: the cold engine has to run the recipe."""


class NotAlone(CannotFollow):
    """An operator made more or something else of a record than one with the same id."""

    advice = "run recipes with such operators without a checkpoint"


class OperatorExit(Exception):
    """An operator called sys.exit(), which is a failure of its own like any other."""


@contextlib.contextmanager
def exits_fail():
    """Ray takes the exit of an actor's method for the loss of its process, which no record would be blamed for."""
    try:
        yield
    except SystemExit as e:
        raise OperatorExit(f"an operator called sys.exit({e.code!r})") from e


class Rows:
    """Lines of a shard and the columns that operators get of them."""

    def __init__(self, data, wanted):
        """data: UTF-8, a record a line. wanted: keys that operators may look at, or None for all."""
        self.lines = data.decode("utf-8").split("\n")
        if not self.lines[-1]:
            self.lines.pop()
        self.spans, values, keys = [], [], {}
        for line in self.lines:
            found = records.members(line)
            self.spans.append([m[:4] for m in found])
            values.append({m[0]: m[4] for m in found if wanted is None or m[0] in wanted or m[0].startswith("__dj__")})
            keys.update(dict.fromkeys(values[-1]))
        keys.pop(ROW, None)
        self.keys = list(keys)
        self.scalars = {k: [v.get(k) for v in values] for k in keys}

    def columns(self):
        columns = {ROW: list(range(len(self.lines)))}
        columns.update((k, records.filled(list(v))) for k, v in self.scalars.items())
        for key, empty in ((STATS, dict), (META, dict)):
            if key in columns:
                columns[key] = [empty() if v is None else v for v in columns[key]]
        return columns

    def require_alone(self, columns, id_column):
        """Each record has led to one at most, and that has its id."""
        order = columns.get(ROW, [])
        for row, following in zip(order, order[1:]):
            if row == following:
                raise NotAlone(f"an operator made several records of the one with {id_column} {self._id(row, id_column)}")
        for row, value in zip(order, columns.get(id_column, [])):
            if not records.same(self._id(row, id_column), value):
                raise NotAlone(f"an operator changed {id_column} {self._id(row, id_column)!r} to {value!r}")

    def _id(self, row, id_column):
        places = {s[0]: s for s in self.spans[row]}
        return records.scan(self.lines[row], places[id_column][2])[0]

    def result(self, columns, hidden):
        """The lines that the operators left, in their order, as bytes; `hidden`: columns that are not written."""
        order = columns.get(ROW)
        if order is None or any(type(row) is not int or not 0 <= row < len(self.lines) for row in order):
            raise CannotFollow("rows were built anew, so that nobody knows which record they come from")
        if any(a > b for a, b in zip(order, order[1:])):
            raise CannotFollow("the order of the rows was changed")
        dropped = {k for k in self.keys if k not in columns} | {k for k in hidden if k in self.keys}
        written = [k for k in columns if k != ROW and k not in hidden]
        known = set(self.keys)
        out = []
        for i, row in enumerate(order):
            text, spans = self.lines[row], self.spans[row]
            places = {s[0]: s for s in spans}
            changed, added = {}, {}
            for key in written:
                value = columns[key][i]
                if key not in places:
                    if value is not None:
                        added[key] = records.dumps(value)
                    continue
                original = self.scalars[key][row] if key in known else records.scan(text, places[key][2])[0]
                if type(original) in (dict, list):  # an operator may have changed it in place
                    original = records.scan(text, places[key][2])[0]
                    value = records.restored(original, value)
                if not records.same(original, value):
                    changed[key] = records.dumps(value)
            out.append(records.splice(text, spans, changed, dropped & places.keys(), added))
        return "".join(line + "\n" for line in out).encode("utf-8")


class Chain:
    def __init__(self, process):
        """process: as Data-Juicer's configuration holds it, all arguments filled in."""
        from data_juicer.ops import Mapper, load_ops
        from data_juicer.ops.base_op import TAGGING_OPS

        self.mapper, self.tagging = Mapper, TAGGING_OPS.modules
        self.operators = load_ops(process)

    def batch_sizes(self):
        return [(op.batch_size if op.is_batched_op() else 1) or 1 for op in self.operators]

    def apply(self, columns):
        """The columns after all operators, and (name, rows in, rows out) of each."""
        counts = []
        for op in self.operators:
            before = _height(columns)
            if before:
                try:
                    columns = self._one(op, columns)
                except records.CannotWrite as e:
                    raise CannotFollow(f"operator {op._name} leaves {e}") from e
            counts.append((op._name, before, _height(columns)))
        return columns, counts

    def _one(self, op, columns):
        size = (getattr(op, "batch_size", 1) or 1) if op.is_batched_op() else 1
        if op._name in self.tagging and META not in columns:
            columns = {**columns, META: [{} for _ in range(_height(columns))]}
        if isinstance(op, self.mapper):
            return _mapped(op.process, op._name, columns, size)
        if STATS not in columns:
            columns = {**columns, STATS: [{} for _ in range(_height(columns))]}
        columns = _mapped(op.compute_stats, op._name, columns, size)
        rows = _height(columns)
        if op.is_batched_op():
            keep = [k for batch in _batches(columns, TABLE_ROWS) for k in op.process(batch)]
        else:
            keep = [op.process({k: v[i] for k, v in columns.items()}) for i in range(rows)]
        if len(keep) != rows:
            raise ValueError(f"{op._name}: {len(keep)} verdicts for {rows} rows")
        return columns if all(keep) else {k: [v for v, good in zip(c, keep) if good] for k, c in columns.items()}


def _height(columns):
    return len(next(iter(columns.values()))) if columns else 0


def _batches(columns, size):
    for start in range(0, _height(columns), size):
        yield {k: v[start:start + size] for k, v in columns.items()}


def _mapped(function, name, columns, size):
    done = []
    for batch in _batches(columns, size):
        result = function(batch)
        if hasattr(result, "to_pydict"):
            result = result.to_pydict()
        result = {k: records.plain_column(v) for k, v in result.items()}
        heights = {len(v) for v in result.values()}
        if heights == {0} or not result:  # nothing is left of the batch, or skip_op_error dropped it
            continue
        if len(heights) != 1:
            raise ValueError(f"{name} left columns of different lengths: { {k: len(v) for k, v in result.items()} }")
        done.append(result)
    if len(done) == 1:
        return done[0]
    keys = dict.fromkeys(k for result in done for k in result) or columns
    joined = {k: [] for k in keys}
    for result in done:
        rows = _height(result)
        for key, column in joined.items():
            column.extend(result[key] if key in result else [None] * rows)
    return joined


class Stage:
    """A part of the chain in a Ray actor of its own, which outlives shards. Operators are constructed here, once."""

    def __init__(self, process, custom, wanted, hidden, last, id_column=None):
        """id_column: of records that must stand alone."""
        import sys

        sys.set_int_max_str_digits(0)  # an integer of 5,000 digits is a value like any other
        from caravan_runner import compat

        compat.forbid_installation()
        self.constructed = count_constructions()
        with exits_fail():
            if custom:
                from data_juicer.config.config import load_custom_operators

                load_custom_operators(custom)
            self.chain = Chain(process)
        self.wanted, self.hidden, self.last, self.id_column = wanted, hidden, last, id_column

    def ready(self):
        return self.chain.batch_sizes()

    def constructions(self):
        """How often the constructor of each operator has run in this process, shards and all."""
        return {op._name: self.constructed.get(type(op), 0) for op in self.chain.operators}

    def run(self, data, before, produced):
        """data: lines. before: (columns, counts) of the stage before, None for the first stage.

        Returns (columns, counts), or (bytes, counts) from the last stage."""
        os.environ["DJ_PRODUCED_DATA_DIR"] = produced
        rows = Rows(data, self.wanted) if before is None or self.last else None
        columns, counts = (rows.columns(), []) if before is None else before
        with exits_fail():
            columns, more = self.chain.apply(columns)
        if self.last and self.id_column is not None:
            rows.require_alone(columns, self.id_column)
        return (rows.result(columns, self.hidden) if self.last else columns), counts + more


def count_constructions():
    from collections import Counter

    from data_juicer.ops.base_op import OPMetaClass

    counted = Counter()
    construct = OPMetaClass.__call__

    def counting(cls, *args, **kwargs):
        counted[cls] += 1
        return construct(cls, *args, **kwargs)

    OPMetaClass.__call__ = counting
    return counted
