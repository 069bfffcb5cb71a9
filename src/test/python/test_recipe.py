"""Recipes against the real operator registry. Run under the Data-Juicer environment:
python -m unittest discover -s src/test/python"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RUNNER = ROOT / "src/main/python"
sys.path.insert(0, str(RUNNER))

from caravan_runner import recipe  # noqa: E402

OPERATORS = Path(__file__).resolve().parent / "operators" / "probe_mappers.py"


class RecipeTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def check(self, text):
        path = self.folder / "recipe.yaml"
        path.write_text(text, encoding="utf-8")
        return recipe.check(str(path))

    def refused(self, text, where, *words):
        report = self.check(text)
        self.assertFalse(report["ok"])
        found = [p for p in report["problems"] if p["where"] == where]
        self.assertTrue(found, f"no problem at {where}: {report['problems']}")
        for word in words:
            self.assertTrue(any(word in p["message"] for p in found), f"{word!r} not in {found}")
        return report

    def test_a_good_recipe_is_described(self):
        report = self.check(
            "dataset_path: data/in.jsonl\nimage_key: pictures\nskip_op_error: false\nprocess:\n"
            "  - whitespace_normalization_mapper: {index_key: row}\n  - text_length_filter:\n      min_len: 200\n")
        self.assertTrue(report["ok"], report["problems"])
        self.assertEqual([("whitespace_normalization_mapper", "mapper"), ("text_length_filter", "filter")],
                         [(o["name"], o["kind"]) for o in report["operators"]])
        self.assertEqual({"image": "pictures", "audio": "audios", "video": "videos"}, report["media_keys"])
        self.assertEqual(["row"], report["index_keys"])
        self.assertEqual("data/in.jsonl", report["dataset_path"])
        self.assertFalse(report["needs_gpu"])
        self.assertFalse(report["side_effects"])
        self.assertEqual(1, len(report["warnings"]))  # dataset_path has no effect
        self.assertIn("dataset_path", report["warnings"][0])

    def test_process_must_be_a_list_with_operators_in_it(self):
        self.refused("project_name: x\n", "recipe.yaml:1: process", "is missing")
        self.refused("process: []\n", "recipe.yaml:1: process", "is empty")
        self.refused("process:\n", "recipe.yaml:1: process", "expected a list")
        self.refused("process: {text_length_filter: {}}\n", "recipe.yaml:1: process", "expected a list", "dict")

    def test_an_entry_must_be_one_operator_with_arguments(self):
        self.refused("process:\n  - text_length_filter\n", "recipe.yaml:2: process[0]", "found 'text_length_filter'")
        self.refused("process:\n  - a: {}\n    b: {}\n", "recipe.yaml:2: process[0]", "2 keys (a, b)")
        self.refused("process:\n  - text_length_filter: 7\n", "recipe.yaml:2: process[0].text_length_filter", "found 7")

    def test_files_that_are_no_recipe(self):
        self.refused("process: [\n", "recipe.yaml:2", "not YAML")
        self.refused("- a\n- b\n", "recipe.yaml:1", "expected keys and values")
        self.refused("", "recipe.yaml", "expected keys and values")
        report = recipe.check(str(self.folder / "absent.yaml"))
        self.assertEqual([{"where": "absent.yaml", "message": "cannot be read: No such file or directory"}], report["problems"])

    def test_a_key_that_stands_twice(self):
        self.refused("process:\n  - text_length_filter: {min_len: 1, min_len: 2}\n",
                     "recipe.yaml:2: process[0].text_length_filter.min_len", "twice")

    def test_statistics_in_one_file_for_all_shards(self):
        self.refused("stats_export_path: /s\nprocess:\n  - text_length_filter: {}\n", "recipe.yaml:1: stats_export_path", "same statistics file")
        self.refused("process:\n  - text_length_filter: {stats_export_path: /s}\n", "recipe.yaml:2: process[0].text_length_filter", "same statistics file")

    def test_settings_that_go_round_the_shard(self):
        good = "process:\n  - text_length_filter: {}\n"
        for key in ("generated_dataset_config: {type: x}", "encrypt_before_export: true", "decrypt_after_reading: true",
                    "resume: job-1", "auto: true"):
            self.refused(f"{key}\n{good}", "recipe.yaml:1: " + key.split(":")[0])

    def test_operators_that_need_the_whole_data_set(self):
        for name, kind in (("document_deduplicator", "Deduplicator"), ("random_selector", "Selector"),
                           ("naive_grouper", "Grouper"), ("nested_aggregator", "Aggregator"),
                           ("ray_repartition_pipeline", "Pipeline")):
            self.refused(f"process:\n  - {name}: {{}}\n", f"recipe.yaml:2: process[0].{name}", f"is a {kind}", "whole data set")
        # a Filter by its class
        self.refused("process:\n  - ray_document_deduplicator: {}\n", "recipe.yaml:2: process[0].ray_document_deduplicator", "by its name")

    def test_custom_operators_with_whole_data_names(self):
        custom = self.folder / "whole.py"
        custom.write_text("from data_juicer.ops.base_op import OPERATORS, Filter\n"
                          "for name in ('global_order_filter', 'full_dataset_filter'):\n"
                          "    OPERATORS.register_module(name)(type(name, (Filter,), {}))\n"
                          "OPERATORS.register_module('plain_class')(type('Plain', (), {}))\n")
        text = "custom_operator_paths: [whole.py]\nprocess:\n  - global_order_filter: {}\n  - full_dataset_filter: {}\n  - plain_class: {}\n"
        self.refused(text, "recipe.yaml:3: process[0].global_order_filter", "by its name")
        self.refused(text, "recipe.yaml:4: process[1].full_dataset_filter", "by its name")
        self.refused(text, "recipe.yaml:5: process[2].plain_class", "neither a Mapper nor a Filter")

    def test_an_unknown_operator_gets_a_suggestion(self):
        self.refused("process:\n  - text_lenght_filter: {}\n", "recipe.yaml:2: process[0].text_lenght_filter", "did you mean text_length_filter")
        self.refused("process:\n  - qqq: {}\n", "recipe.yaml:2: process[0].qqq", "custom_operator_paths")

    def test_wrong_arguments(self):
        self.refused("process:\n  - text_length_filter: {min_length: 3, max_len: abc}\n", "recipe.yaml:2: process[0].text_length_filter",
                     "unknown parameter 'min_length'; did you mean min_len", "'max_len' expects type 'int'")
        self.refused("process:\n  - text_pair_similarity_filter: {min_score: 7}\n", "recipe.yaml:2: process[0].text_pair_similarity_filter",
                     "'min_score' expects type 'ClosedUnitInterval'")

    def test_settings_that_data_juicer_does_not_know(self):
        self.refused("no_such_setting: 1\nprocess:\n  - text_length_filter: {}\n", "recipe.yaml:1", "no_such_setting")
        self.refused("override_num_blocks: many\nprocess:\n  - text_length_filter: {}\n", "recipe.yaml:1", "override_num_blocks")

    def test_a_gpu_for_an_operator_that_uses_none(self):
        self.refused("process:\n  - text_length_filter: {num_gpus: 1}\n", "recipe.yaml:2: process[0].text_length_filter", "does not use a GPU")

    def test_custom_operators_are_found_beside_the_recipe(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "probe_mappers.py").write_text(OPERATORS.read_text())
        text = "custom_operator_paths: [mine/probe_mappers.py]\nprocess:\n  - gpu_probe_mapper: {num_gpus: 1, accelerator: cuda}\n"
        before = os.getcwd()
        os.chdir("/")
        self.addCleanup(os.chdir, before)
        for _ in range(2):  # nothing of the first check may be in the way of a second one
            report = self.check(text)
            self.assertTrue(report["ok"], report["problems"])
            self.assertTrue(report["needs_gpu"])
            self.assertTrue(report["side_effects"], "what a custom operator does is not known")
            self.assertEqual([str(self.folder / "mine" / "probe_mappers.py")], report["custom_operator_paths"])

    def test_custom_operators_that_cannot_be_loaded(self):
        (self.folder / "broken.py").write_text("import no_such_module_here\n")
        (self.folder / "folder").mkdir()
        good = "process:\n  - text_length_filter: {}\n"
        self.refused("custom_operator_paths: [broken.py]\n" + good, "recipe.yaml:1: custom_operator_paths", "no_such_module_here")
        self.refused("custom_operator_paths: [absent.py]\n" + good, "recipe.yaml:1: custom_operator_paths", "does not exist")
        self.refused("custom_operator_paths: [folder]\n" + good, "recipe.yaml:1: custom_operator_paths", "without __init__.py")
        self.refused("custom_operator_paths: one.py\n" + good, "recipe.yaml:1: custom_operator_paths", "expected a list")

    def test_warnings_do_not_refuse(self):
        report = self.check("executor_type: default\nray_address: auto\nexport_path: /out\nskip_op_error: false\nprocess:\n"
                            "  - image_blur_mapper: {save_dir: /pictures}\n")
        self.assertTrue(report["ok"], report["problems"])
        for word in ("executor_type: 'default' has no effect", "ray_address", "export_path", "save_dir '/pictures'",
                     "the merged bytes may differ from run to run, by what these operators use: image_blur_mapper (random numbers)"):
            self.assertTrue(any(word in w for w in report["warnings"]), f"{word} not in {report['warnings']}")
        self.assertEqual(5, len(report["warnings"]))
        self.assertTrue(report["side_effects"])

    def test_rows_that_would_be_dropped_silently_are_warned_of(self):
        good = "process:\n  - text_length_filter: {}\n"
        self.assertIn("skip_op_error", self.check(good)["warnings"][0])
        self.assertEqual([], self.check("skip_op_error: false\n" + good)["warnings"])

    def test_all_problems_come_at_once_in_the_order_of_the_lines(self):
        report = self.check("stats_export_path: /s\nprocess:\n  - qqq: {}\n  - random_selector: {}\n  - text_length_filter: {bad: 1}\n")
        self.assertEqual([1, 3, 4, 5], [int(p["where"].split(":")[1]) for p in report["problems"]])

    def test_the_samples_are_good(self):
        for name in ("quickstart/recipe.yaml", "gpu/recipe-1gpu.yaml", "gpu/recipe-4gpu.yaml"):
            report = recipe.check(str(ROOT / "samples" / name))
            asked = ["query_sentiment_detection_mapper", "query_topic_detection_mapper", "text_pair_similarity_filter"]
            expected = [", ".join(f"{op} (a model, if its arguments ask for one)" for op in asked)] if "gpu" in name else []
            self.assertEqual(([], expected), (report["problems"], [w.partition("use: ")[2] for w in report["warnings"]]), name)
            self.assertEqual("gpu" in name, report["needs_gpu"])


class CommandLineTest(unittest.TestCase):
    def command(self, *arguments, python=sys.executable, **environment):
        return subprocess.run([python, "-m", "caravan_runner", *arguments], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PYTHONPATH": str(RUNNER), **environment})

    def test_info_is_one_line_of_json(self):
        done = self.command("info")
        self.assertEqual(0, done.returncode, done.stderr)
        info = json.loads(done.stdout)
        self.assertEqual(1, done.stdout.count("\n"))
        self.assertEqual({"python", "executable", "data_juicer", "ray", "pyarrow", "code_version"}, set(info))
        self.assertEqual("1.6.1", info["data_juicer"])

    def test_info_without_the_packages_says_what_to_do(self):
        done = self.command("info", python=os.path.realpath(sys.executable))  # the base interpreter, outside the environment
        self.assertEqual(2, done.returncode, done.stdout)
        self.assertIn("py-data-juicer", json.loads(done.stdout)["error"])
        self.assertIn("caravan python setup", json.loads(done.stdout)["error"])

    def test_a_git_checkout_is_named_by_its_commit(self):
        with tempfile.TemporaryDirectory() as checkout:
            package = Path(checkout, "data_juicer")
            package.mkdir()
            (package / "__init__.py").write_text('__version__ = "9.9.9"\n')
            git = Path(checkout, ".git")
            (git / "refs/heads").mkdir(parents=True)
            (git / "HEAD").write_text("ref: refs/heads/main\n")
            (git / "refs/heads/main").write_text("a" * 40 + "\n")
            done = self.command("info", PYTHONPATH=f"{RUNNER}{os.pathsep}{checkout}")
            self.assertTrue(json.loads(done.stdout)["code_version"].endswith("+git." + "a" * 40))

    def test_stdout_holds_the_answer_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "r.yaml")
            path.write_text("process:\n  - nothing: {}\n")
            done = self.command("recipe", str(path))
        self.assertEqual(2, done.returncode)
        self.assertEqual("r.yaml:2: process[0].nothing", json.loads(done.stdout)["problems"][0]["where"])

    def test_a_wrong_command_or_request_is_told_apart(self):
        self.assertEqual(64, self.command().returncode)
        self.assertEqual(64, self.command("shard", "/no/such/request.json").returncode)


if __name__ == "__main__":
    unittest.main()
