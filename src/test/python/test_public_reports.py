"""Values that other programs changed, by the numbers of a collection of public bug reports; without Ray."""

import unittest

from caravan_runner.chain import Rows

REPORTS = {
    "J03": '{"t":"a\u2028b"}\n{"t":"c\u0085d"}\n{"t":"e\u2029f"}\n',
    "J12": '{"m":"x\\ud835y"}\n{"m":"ok"}\n',
    "J16": '{"b":1,"a":2,"b":3}\n',
    "J18": '{"id":18446744073709551616}\n{"id":9999999999999999999999999999999999}\n{"id":-9223372036854775809}\n',
    "S01": '{"id":1,"meta":{"url":null}}\n' * 2000 + '{"id":2,"meta":{"url":"u"}}\n' * 10,
    "S03": '{"items":[]}\n' * 1000 + '{"items":[1,2]}\n' * 1000 + '{"items":["a"]}\n',
    "S05": '{"a":"x"}\n{"b":2}\n' * 2000,
    "S07": '{"a":9007199254740993}\n{"a":null}\n{"a":5}\n{"a":1.0}\n{"a":0.1000000000000000055}\n',
    "S09": '{"date":"2024-01-01"}\n{"created_at":"2024-01-01T00:00:00Z"}\n{"d":"2024-01-01 00:00:00"}\n',
    "S11": '{"m":{"ts":1}}\n{"m":{"ts":"1.000"}}\n{"m":{"ts":1.5}}\n' * 1000,
    "S12": '{"messages":[{"role":"system","content":"text"},{"role":"user","content":[{"type":"text","text":"t"},'
           '{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO="}}]}]}\n',
}


class PublicReportsTest(unittest.TestCase):
    def through(self, text, wanted, change):
        rows = Rows(text.encode("utf-8"), wanted)
        return rows.result(change(rows.columns()), set()).decode("utf-8")

    def test_values_come_back_as_they_were_from_operators_that_see_them_and_change_nothing(self):
        for report, text in REPORTS.items():
            for wanted in (None, {"text"}):
                with self.subTest(report, wanted=wanted):
                    self.assertEqual(text, self.through(text, wanted, lambda columns: columns))

    def test_values_come_back_as_they_were_beside_a_key_that_every_operator_adds(self):
        for report, text in REPORTS.items():
            with self.subTest(report):
                added = text.replace("}\n", ', "n": 7}\n')
                self.assertEqual(added, self.through(
                    text, None, lambda columns: {**columns, "n": [7] * text.count("\n")}))

    def test_J14_what_an_operator_makes_is_never_written_as_NaN_or_infinity(self):
        made = [float("nan"), [float("-inf"), 1.5]]
        self.assertEqual('{"v": null, "w":1}\n{"v": [null, 1.5]}\n', self.through(
            '{"v": 1.5, "w":1}\n{"v": 2}\n', None, lambda columns: {**columns, "v": made}))


if __name__ == "__main__":
    unittest.main()
