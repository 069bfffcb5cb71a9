"""Checks a recipe for use on shards: the whole answer in one go, cheap checks before the import of Data-Juicer."""

import contextlib
import difflib
import io
import os
import sys
import tempfile

from caravan_runner import chance, compat, followable, identity, info
from caravan_runner.recipe_file import RecipeFile

WHOLE_DATA_NAMES = ("deduplicator", "global_", "full_dataset_")
WHOLE_DATA_CLASSES = ("Deduplicator", "Selector", "Grouper", "Aggregator", "Pipeline")
MEDIA_KEYS = {"image": ("image_key", "images"), "audio": ("audio_key", "audios"), "video": ("video_key", "videos")}


def check(path):
    code_version = info.code_version()
    recipe = RecipeFile(path)
    operators, custom, obstacles = [], [], []
    if recipe.root is not None:
        custom = _custom_paths(recipe)
        if recipe.entries:
            _import_data_juicer()
            with _forgotten_afterwards(custom):
                operators = _check_operators(recipe, custom)
            if not recipe.problems:
                with _forgotten_afterwards(custom):
                    obstacles = _obstacles(recipe, _check_settings(recipe, custom))
    recipe.problems.sort(key=lambda p: int((p["where"].split(":") + ["0"])[1].strip() or 0))
    text = recipe.data.get
    return {
        "ok": not recipe.problems,
        "problems": recipe.problems,
        "warnings": recipe.warnings,
        "operators": operators,
        "media_keys": {kind: text(key) or default for kind, (key, default) in MEDIA_KEYS.items()},
        "index_keys": list(dict.fromkeys(a["index_key"] for _, _, a, _ in recipe.entries if a.get("index_key"))),
        "dataset_path": text("dataset_path") if isinstance(text("dataset_path"), str) else None,
        "custom_operator_paths": custom,
        "needs_gpu": any(op["num_gpus"] for op in operators),
        "side_effects": bool(custom) or any(_may_write(name, args) for _, name, args, _ in recipe.entries),
        "code_version": code_version,
        "checkpoint": {"obstacles": obstacles, "identity": {} if recipe.problems else identity.of_recipe(path)},
    }


def _may_write(name, args):
    """Folders that an operator is told are for writing, but for those with lists of words."""
    return "upload" in name or any(key.endswith("_dir") and not key.endswith("words_dir") and value
                                   for key, value in args.items() if isinstance(key, str))


def _custom_paths(recipe):
    paths = recipe.data.get("custom_operator_paths")
    if paths in (None, []):
        return []
    node = recipe.child(recipe.root, "custom_operator_paths")
    if not isinstance(paths, list) or not all(isinstance(p, str) for p in paths):
        recipe.problem(node, "custom_operator_paths", "expected a list of Python files or package folders")
        return []
    found = []
    for path in paths:
        full = os.path.normpath(os.path.join(recipe.folder, os.path.expanduser(path)))
        if os.path.isdir(full) and not os.path.isfile(os.path.join(full, "__init__.py")):
            recipe.problem(node, "custom_operator_paths", f"{full} is a folder without __init__.py: not a Python package")
        elif not os.path.exists(full):
            recipe.problem(node, "custom_operator_paths", f"{full} does not exist (relative paths start at the recipe's folder)")
        else:
            found.append(full)
    return found


def _import_data_juicer():
    try:
        import data_juicer.config.config  # noqa: F401
        import data_juicer.ops  # noqa: F401
    except ImportError as e:
        raise info.MissingPackage(f"{sys.executable} cannot import Data-Juicer ({e}): {info.ADVICE}") from e
    compat.accept_restricted_numbers()


@contextlib.contextmanager
def _forgotten_afterwards(custom):
    """Custom operators loaded inside are unknown again afterwards: Data-Juicer's parser wants to load them itself."""
    from data_juicer.ops import base_op, op_fusion
    from data_juicer.utils.registry import Registry

    registries = [v for m in (base_op, op_fusion) for v in vars(m).values() if isinstance(v, Registry)]
    before = [dict(r.modules) for r in registries]
    yield
    for registry, known in zip(registries, before):
        for name in set(registry.modules) - set(known):
            del registry.modules[name]
    for name, module in list(sys.modules.items()):
        source = getattr(module, "__file__", None) or ""
        if any(source == path or source.startswith(path + os.sep) for path in custom):
            del sys.modules[name]


def _check_operators(recipe, custom):
    from data_juicer.config.config import load_custom_operators
    from data_juicer.ops import OPERATORS, Filter, Mapper

    node = recipe.child(recipe.root, "custom_operator_paths")
    for path in custom:
        try:
            load_custom_operators([path])
        except (Exception, SystemExit) as e:  # whatever the user's code raises
            own = e.__cause__ or e.__context__ or e  # Data-Juicer wraps it
            recipe.problem(node, "custom_operator_paths", f"{path} cannot be loaded: {type(own).__name__}: {own}")
    known = OPERATORS.modules
    operators, by_chance = [], {}
    for i, name, args, args_node in recipe.entries:
        place = f"process[{i}].{name}"
        reason = _refused(name, known.get(name), known, Mapper, Filter)
        if reason:
            recipe.problem(args_node, place, reason)
            continue
        gpus = args.get("num_gpus", args.get("gpu_required"))
        operators.append({
            "name": name,
            "kind": "mapper" if issubclass(known[name], Mapper) else "filter",
            "num_gpus": gpus if isinstance(gpus, (int, float)) and not isinstance(gpus, bool) else None,
        })
        by_chance[name] = chance.of(known[name])
        for message in _wrong_arguments(name, args):
            recipe.problem(args_node, place, message)
        if gpus and "cuda" not in (args.get("accelerator"), known[name]._accelerator):
            recipe.problem(recipe.key_node(args_node, "num_gpus"), place,
                           "num_gpus: the operator does not use a GPU (set accelerator: cuda if it does)")
    named = [f"{name} ({why})" for name, why in by_chance.items() if why]
    if named:
        recipe.warnings.append(f"{recipe.name}: the merged bytes may differ from run to run, by what these operators use: "
                               + ", ".join(named))
    return operators


def _refused(name, operator, known, mapper, filter_):
    if operator is None:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(near)}?" if near else "a custom one must be named in custom_operator_paths"
        return f"unknown operator; {hint}"
    kinds = [c.__name__ for c in operator.__mro__ if c.__name__ in WHOLE_DATA_CLASSES]
    if kinds:
        return f"is a {kinds[0]}: it needs the whole data set and would see one shard only; run it on the merged output"
    if any(part in name for part in WHOLE_DATA_NAMES):
        return "by its name it works on the whole data set and would see one shard only; run it on the merged output"
    if not issubclass(operator, (mapper, filter_)):
        return "is neither a Mapper nor a Filter: only those work row by row"
    if "ray" not in operator._supported_exec_modes:
        return f"does not run on Ray (it supports {', '.join(operator._supported_exec_modes)})"
    return None


def _wrong_arguments(name, args):
    """Data-Juicer's own check of names and types, which would otherwise fail each shard."""
    from data_juicer.core.preflight import PipelineConfigError, pre_instantiation_check

    try:
        pre_instantiation_check([{name: args}])
    except PipelineConfigError as e:
        for error in e.errors:
            hint = f"; did you mean {' or '.join(error.suggestions)}?" if error.suggestions else ""
            yield error.message[0].lower() + error.message[1:] + hint
    return


def _obstacles(recipe, cfg):
    """Why a shard cannot be gone on with where an attempt has left it, as problems are told."""
    found = []
    for i, name, _, node in recipe.entries:
        why = followable.makes_several(name)
        if why:
            found.append({"where": f"{recipe.name}:{node.start_mark.line + 1}: process[{i}].{name}", "message": why})
    why = followable.obstacle(cfg) if cfg is not None else None
    return found + ([{"where": recipe.name, "message": f"its operators cannot be run alone ({why})"}] if why else [])


def _check_settings(recipe, custom):
    """The rest of the recipe, by Data-Juicer's own parser, as it reads it; without Ray, and writing nothing that stays."""
    from data_juicer.config import init_configs
    from loguru import logger

    if recipe.data.get("skip_op_error", True):
        recipe.warnings.append(f"{recipe.name}: skip_op_error is on by default: rows whose operator fails are dropped "
                               "without an error; set skip_op_error: false to make such a shard fail")
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stderr(said):
        logger.remove()
        args = ["--config", recipe.path, "--executor_type", "default", "--dataset_path", "", "--export_type", "jsonl",
                "--export_path", os.path.join(scratch, "out.jsonl"), "--work_dir", scratch]
        args += ["--custom-operator-paths", *custom] if custom else []
        try:
            return init_configs(args, load_configs_only=True)
        except SystemExit:
            lines = [line.strip() for line in said.getvalue().splitlines() if line.strip()]
            start = next((i for i, line in enumerate(lines) if "error:" in line), max(0, len(lines) - 3))
            recipe.problem(recipe.root, "", "Data-Juicer refuses it: " + " ".join(lines[start:]))
        except Exception as e:
            recipe.problem(recipe.root, "", f"Data-Juicer refuses it: {type(e).__name__}: {e}")
    return None
