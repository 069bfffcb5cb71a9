"""Records keep their bytes where no operator touched them; without Ray."""

import unittest

from caravan_runner import followable, records
from caravan_runner.chain import META, ROW, STATS, CannotFollow, Chain, Rows

HARD = (
    '{"id":0,"text":"a  b","big":9223372036854775808,"price":1.10,"code":"00123","day":"2024-01-02","none":null}\n'
    '{ "id" : 1 , "text" : "c\\u00e9  d", "empty":[], "nested": {"a":{}, "b":[{"c":1.10}]}, "id":1e400 }\n'
    '{"text":"e  f","k":1,"k":2,"deep":{"x":{"y":null}},"long":123456789012345678901234567890.000}\n'
    '{"text":"\\ud83d\\ude00  \u00fc","mixed":[1,"a",null,true]}\n')


class RecordsTest(unittest.TestCase):
    def pass_through(self, text, change=lambda columns: columns, wanted=None, hidden=()):
        rows = Rows(text.encode("utf-8"), wanted)
        return rows.result(change(rows.columns()), set(hidden)).decode("utf-8")

    def test_untouched_records_keep_every_byte(self):
        self.assertEqual(HARD, self.pass_through(HARD))
        self.assertEqual(HARD, self.pass_through(HARD, wanted={"text"}))

    def test_a_changed_value_alone_is_written_anew(self):
        def change(columns):
            return {**columns, "text": [t.replace("  ", " ") for t in columns["text"]]}

        expected = HARD.replace('"a  b"', '"a b"').replace('"c\\u00e9  d"', '"cé d"').replace('"e  f"', '"e f"')
        expected = expected.replace('"\\ud83d\\ude00  ü"', '"😀 ü"')
        for wanted in (None, {"text"}):
            self.assertEqual(expected, self.pass_through(HARD, change, wanted))

    def test_added_keys_follow_and_null_is_absent_where_the_record_has_nothing(self):
        def change(columns):
            return {**columns, STATS: [{"n": 1}, {"n": None}, {}, {}], "new": ["x", None, 2.0, float("nan")]}

        self.assertEqual(
            '{"text":"a", "__dj__stats__": {"n": 1}, "new": "x"}\n{"text":null, "__dj__stats__": {"n": null}}\n'
            '{"__dj__stats__": {}, "new": 2.0}\n{"__dj__stats__": {}, "new": null}\n',
            self.pass_through('{"text":"a"}\n{"text":null}\n{}\n{ }\n', change))
        self.assertEqual('{"text":"a", "new": "x"}\n',
                         self.pass_through('{"text":"a"}\n', lambda c: {**c, STATS: [{"n": 1}], "new": ["x"]}, hidden=[STATS, META]))

    def test_what_was_filled_in_for_the_operators_is_not_written(self):
        text = '{"meta":{"a":1.10}}\n{"meta":{"b":[{"c":1},{}]}}\n{"meta":null}\n{}\n'

        def change(columns):
            self.assertEqual([{"a": 1.1, "b": None}, {"a": None, "b": [{"c": 1}, {"c": None}]}, None, None], columns["meta"])
            columns["meta"][1]["new"] = True  # in place
            return columns

        self.assertEqual(text.replace('{"b":[{"c":1},{}]}', '{"b": [{"c": 1}, {}], "new": true}'), self.pass_through(text, change))

    def test_one_true_and_one_point_zero_are_three_values(self):
        self.assertEqual('{"a":true}\n{"a":1.0}\n{"a":1}\n', self.pass_through(
            '{"a":1}\n{"a":1}\n{"a":1}\n', lambda c: {**c, "a": [True, 1.0, 1]}))

    def test_dropped_keys_and_dropped_and_repeated_rows_are_followed(self):
        def change(columns):
            return {ROW: [0, 2, 2], "b": [1, 3, 4]}

        self.assertEqual('{ "b" : 1 }\n{"b": 3}\n{"b": 4}\n',
                         self.pass_through('{ "a":1, "b" : 1 }\n{"a":2}\n{"a":3,"a":4}\n', change))

    def test_rows_that_cannot_be_followed(self):
        for change in (lambda c: {"a": [1]}, lambda c: {ROW: [None], "a": [1]}, lambda c: {ROW: [1, 0], "a": [1, 1]}):
            with self.assertRaises(CannotFollow):
                self.pass_through('{"a":1}\n{"a":2}\n', change)

    def test_no_valid_unicode_is_escaped(self):
        self.assertEqual('"\\ud800\\u00e9"', records.dumps("\ud800é"))
        self.assertEqual('"é"', records.dumps("é"))

    def test_values_of_numpy_become_json(self):
        import numpy

        self.assertEqual([1, 2.5, [True], "x", {"a": [1]}], records.plain_column(
            [numpy.int64(1), numpy.float64(2.5), numpy.array([True]), numpy.str_("x"), {"a": (numpy.int8(1),)}]))
        with self.assertRaises(records.CannotWrite):
            records.plain(b"bytes")


class ChainTest(unittest.TestCase):
    """Operators called in this process."""

    ARGUMENTS = {"text_key": "text", "skip_op_error": False}

    def run_chain(self, text, *process):
        entries = [{name: {**self.ARGUMENTS, **args}} for name, args in process]
        rows = Rows(text.encode("utf-8"), followable.wanted_keys(entries))
        columns, counts = Chain(entries).apply(rows.columns())
        return rows.result(columns, set()).decode("utf-8"), counts

    def test_rows_out_of_a_mapper_and_a_filter(self):
        result, counts = self.run_chain(HARD, ("whitespace_normalization_mapper", {}), ("text_length_filter", {"min_len": 0, "max_len": 4}))
        self.assertEqual(HARD.splitlines()[0].replace("}", ', "__dj__stats__": {"text_len": 4}}'), result.splitlines()[0])
        self.assertEqual(3, len(result.splitlines()))
        self.assertEqual([("whitespace_normalization_mapper", 4, 4), ("text_length_filter", 4, 3)], counts)

    def test_an_operator_that_makes_several_rows_of_one(self):
        result, _ = self.run_chain('{"id":1.10,"text":"abcd"}\n{"text":"ef"}\n', ("text_chunk_mapper", {"max_len": 2}))
        self.assertEqual('{"id":1.10,"text":"ab"}\n{"id":1.10,"text":"cd"}\n{"text":"ef"}\n', result)

    def test_a_failing_batch_is_dropped_only_if_the_recipe_says_so(self):
        text = '{"text":"a"}\n{"text":null}\n'
        with self.assertRaises(Exception):
            self.run_chain(text, ("whitespace_normalization_mapper", {}))
        result, _ = self.run_chain(text, ("whitespace_normalization_mapper", {"skip_op_error": True}), ("text_length_filter", {}))
        self.assertEqual("", result)

    def test_keys_that_operators_see(self):
        keys = followable.wanted_keys([{"text_length_filter": {"text_key": "body.main"}}])
        self.assertLessEqual({"body.main", "body", "images"}, keys)
        self.assertNotIn("text_length", keys)
        self.assertIsNone(followable.wanted_keys([{"specified_field_filter": {"field_key": "meta.lang"}}]))


if __name__ == "__main__":
    unittest.main()
