"""Records that go around Data-Juicer's executor: what its reader, pyarrow's, makes of their values does not reach them."""

import datetime
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "src/main/python"))
from caravan_runner import carry, chain  # noqa: E402

LINES = [
    '{"id":1, "text":"a","price":1.10,"code":"00123","big":9223372036854775808,"e":[],"o":{},"n":null}',
    '{"text":"2024-01-01","id":1.5,"late":{"deep":{"er":1}},"when":"2024-05-06","mixed":"x"}',
    '{"id":-3,"text":"caf\\u00e9","o":{"a":1},"when":"2024-05-06T07:08:09Z","mixed":7,"text":"twice"}',
    '{"nothing":"of interest"}',
]


class CarryTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def through(self, lines, wanted, change=lambda columns: columns, hidden=frozenset(), block=1 << 20):
        """The lines after pyarrow has read them, and `change`, in blocks of rows, has had its way."""
        from pyarrow import json as reader

        source, carried = self.folder / "shard.jsonl", self.folder / carry.FILE
        source.write_text("".join(line + "\n" for line in lines), "utf-8")
        carry.write(source, carried, wanted)
        table = reader.read_json(carried)
        out = io.BytesIO()
        with open(source, "rb") as original:
            restored = carry.Restored(original, wanted, hidden, out)
            for start in range(0, table.num_rows, block):
                restored.add(change(table.slice(start, block).to_pydict()))
        return out.getvalue().decode("utf-8").splitlines()

    def test_what_nobody_changes_keeps_its_bytes_whatever_the_reader_makes_of_it(self):
        self.assertEqual(LINES, self.through(LINES, {"id", "text", "o", "when"}))

    def test_only_wanted_keys_reach_the_executor(self):
        self.through(LINES, {"text"})
        keys = [sorted(json.loads(line)) for line in (self.folder / carry.FILE).read_text("utf-8").splitlines()]
        self.assertEqual([[chain.ROW, "text"]] * 3 + [[chain.ROW]], keys)

    def test_changed_added_and_dropped_rows_of_many_blocks(self):
        lines = [f'{{"n":{i},"text":"t{i}","keep": 1.{i % 10}0}}' for i in range(2500)]

        def change(columns):
            kept = [i for i, row in enumerate(columns[chain.ROW]) if row % 2 == 0]
            columns = {k: [v[i] for i in kept] for k, v in columns.items()}
            return {**columns, "text": [t.upper() for t in columns["text"]],
                    "stats": [{"len": len(t), "none": None} for t in columns["text"]]}

        self.assertEqual(
            [f'{{"n":{i},"text":"T{i}","keep": 1.{i % 10}0, "stats": {{"len": {len(str(i)) + 1}}}}}' for i in range(0, 2500, 2)],
            self.through(lines, {"text"}, change, block=333))

    def test_rows_in_another_order_or_without_a_number_are_not_followed(self):
        lines = ['{"text":"a"}'] * 1500
        for change in (lambda c: {k: v[::-1] for k, v in c.items()}, lambda c: {"text": c["text"]},
                       lambda c: {**c, chain.ROW: [None] * 1500}):
            with self.assertRaises(chain.CannotFollow):
                self.through(lines, {"text"}, change)

    def test_what_an_operator_makes_of_a_value_is_no_drift(self):
        time = datetime.datetime(2024, 5, 6, 7, 8, 9)
        self.assertEqual(2.0, carry.undrifted(1, 2.0))
        self.assertEqual("2024-05-06T07:08:09", carry.undrifted("2024-05-07", time))
        self.assertEqual({"a": 1, "b": 2}, carry.undrifted({"a": 1}, {"a": 1, "b": 2, "c": None}))
        self.assertEqual(2**53 + 1, carry.undrifted(2**53 + 1, float(2**53)))


if __name__ == "__main__":
    unittest.main()
