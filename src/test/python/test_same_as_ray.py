"""Every text operator that runs without a model or the network: its rows are those of Data-Juicer's own RayDataset.

One Ray for all. Absent and null count as the same: a table has no absent values.
"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

RUNNER = Path(__file__).resolve().parents[3] / "src/main/python"

# what only a download could make work fails at once and is left out
OFFLINE = {**dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9"),
           "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}

TEXTS = [
    "Plain words, nothing else. Plain words, nothing else. Plain words, nothing else.",
    "  \u2003mixed\t whitespace \n and lines\n\nA title\n=====\n", "", "a",
    "Mail me at someone@example.com or see https://example.com/a?b=c and 10.0.0.1 !!!",
    "<html><body><h1>Head</h1><p>Some <b>bold</b> text</p><table><tr><td>1</td><td>2</td></tr></table></body></html>",
    "\\documentclass{article}\n\\newcommand{\\me}{myself}\n\\section{One}\nIt is \\me. % a comment\n\\bibliography{x}\n",
    "/* Copyright 2020 Somebody */\nint main() { return 0; }", "\u4e2d\u6587\u548c English \u6df7\u5408\uff0c\u6807\u70b9\u7b26\u53f7\u3002\u201c\u5f15\u53f7\u201d",
    "\u2713 bullets \u25c6 and \u25cf \u25a0 specials \u2502 here", "schön \u00e2\u20ac\u2122 mojibake", "x" * 300, "one two " * 200,
    "a | b | c\n1 | 2 | 3\n4 | 5 | 6\n", "http://a.b/c verylongword" + "z" * 200, "Sentence one. Sentence two? Sentence three!",
]
ROWS = [{"id": i, "text": t, "score": i / 3, "meta": {"src": f"web{i % 3}", "n": i}, "query": t[:20], "response": t[-20:],
         "history": [["q", "a"]], "file": f"f{i}.{'txt' if i % 2 else 'py'}"} for i, t in enumerate(TEXTS * 3)]

OPERATORS = {
    name: {} for name in (
        "alphanumeric_filter", "average_line_length_filter", "character_repetition_filter", "maximum_line_length_filter",
        "special_characters_filter", "text_length_filter", "word_repetition_filter", "words_num_filter", "stopwords_filter",
        "flagged_words_filter", "language_id_score_filter", "perplexity_filter", "text_action_filter", "text_entity_dependency_filter",
        "token_num_filter", "chinese_convert_mapper", "clean_copyright_mapper", "clean_email_mapper", "clean_html_mapper",
        "clean_ip_mapper", "clean_links_mapper", "expand_macro_mapper", "extract_tables_from_html_mapper", "fix_unicode_mapper",
        "nlpaug_en_mapper", "nlpcda_zh_mapper", "punctuation_normalization_mapper", "remove_bibliography_mapper",
        "remove_comments_mapper", "remove_header_mapper", "remove_long_words_mapper", "remove_non_chinese_character_mapper",
        "remove_repeat_sentences_mapper", "remove_specific_chars_mapper", "remove_table_text_mapper",
        "remove_words_with_incorrect_substrings_mapper", "sentence_split_mapper", "whitespace_normalization_mapper",
        "pii_redaction_mapper", "usage_counter_mapper", "tool_success_tagger_mapper", "agent_dialog_normalize_mapper",
        "agent_tool_type_mapper", "agent_bad_case_signal_mapper",
    )
}
OPERATORS.update({
    "specified_field_filter": {"field_key": "meta.src", "target_value": ["web1"]},
    "specified_numeric_field_filter": {"field_key": "meta.n", "min_value": 3, "max_value": 20},
    "general_field_filter": {"filter_condition": "5 < id <= 40"},
    "replace_content_mapper": {"pattern": "words", "repl": "WORDS"},
    "text_chunk_mapper": {"max_len": 50},
    "python_lambda_mapper": {"lambda_str": "lambda s: {**s, 'text': s['text'].upper(), 'extra': len(s['text'])}"},
})
LEAST = 35  # operators that must have been compared, so that a broken environment is noticed


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if v is not None}
    return [plain(v) for v in value] if isinstance(value, list) else value


def compare():
    """Prints {"compared": [names], "different": {name: [theirs, ours]}, "left_out": {name: why}}."""
    from caravan_runner import chain, compat, followable, ray_local, speed

    compat.forbid_installation()
    ray_local.prepare_environment()
    compared, different, left_out = [], {}, {}
    with ray_local.LocalRay({"num_cpus": 1}, warm_up=False):
        import pyarrow
        import ray
        from data_juicer.core.data.ray_dataset import RayDataset
        from data_juicer.ops import load_ops

        speed.prepare(True)
        table = pyarrow.Table.from_pylist(ROWS)
        lines = "".join(json.dumps(r) + "\n" for r in ROWS).encode()
        for name, args in OPERATORS.items():
            entry = [{name: {"skip_op_error": False, "text_key": "text", "num_proc": 1, **args}}]
            try:
                rows = chain.Rows(lines, followable.wanted_keys(entry))
                columns, _ = chain.Chain(entry).apply(rows.columns())
                ours = [plain(json.loads(line)) for line in rows.result(columns, set()).splitlines()]
            except Exception as e:  # no model, no package
                left_out[name] = f"{type(e).__name__}: {e}"[:200]
                continue
            theirs = [plain(r) for r in RayDataset(ray.data.from_arrow(table)).process(load_ops(entry)).data.take_all()]
            if [json.dumps(r, sort_keys=True) for r in theirs] == [json.dumps(r, sort_keys=True) for r in ours]:
                compared.append(name)
            else:
                different[name] = [theirs, ours]
    print(json.dumps({"compared": compared, "different": different, "left_out": left_out}))


class SameAsRayTest(unittest.TestCase):
    def test_operators_leave_the_rows_that_data_juicer_on_ray_leaves(self):
        done = subprocess.run([sys.executable, __file__, "compare"], capture_output=True, text=True, timeout=600,
                              start_new_session=True, env={**os.environ, **OFFLINE, "PYTHONPATH": str(RUNNER)})
        self.assertEqual(0, done.returncode, done.stderr[-4000:])
        found = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual({}, found["different"])
        print("same as on Ray:", ", ".join(found["compared"]), "; left out:", ", ".join(found["left_out"]), file=sys.stderr)
        self.assertGreaterEqual(len(found["compared"]), LEAST)


if __name__ == "__main__":
    compare() if sys.argv[1:] == ["compare"] else unittest.main()
