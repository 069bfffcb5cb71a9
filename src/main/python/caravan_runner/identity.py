"""What must be the same for two runs of a recipe to make the same of a record, by names that can be told to people.

A key that nobody knows counts: only what is known to change nothing of a record is left out.
"""

import hashlib
import os
import re

import yaml

from caravan_runner import info
from caravan_runner.recipe_file import OVERRIDDEN

HARMLESS_ARGUMENTS = {
    "num_proc", "num_cpus", "num_gpus", "cpu_required", "gpu_required", "mem_required", "memory", "ray_execution_mode",
    "auto_op_parallelism", "turbo",
}
HARMLESS_SETTINGS = {
    *OVERRIDDEN, "process", "custom_operator_paths", "project_name", "np", "open_monitor", "use_cache", "ds_cache_dir",
    "cache_compress", "temp_dir", "use_checkpoint", "checkpoint", "event_logging", "debug", "auto_op_parallelism", "turbo",
    "export_shard_size", "export_in_parallel", "strict_preflight", "percentiles", "partition",
}
_MODEL = re.compile("^hf_|model|tokenizer|weights|lexicon")
WHOLE = 16 << 20  # bytes: of larger files of a model the name and the size count


def of_recipe(path, folder=None):
    """{name: value}. folder: where relative paths of the recipe start, by default its own."""
    with open(path, encoding="utf-8") as f:
        recipe = yaml.safe_load(f)
    folder = folder or os.path.dirname(os.path.abspath(path))
    found = {"data_juicer": info.code_version()}
    for place, entry in enumerate(recipe["process"]):
        for name, arguments in entry.items():
            found[f"process[{place}]"] = name
            for key, value in (arguments or {}).items():
                if key not in HARMLESS_ARGUMENTS:
                    found[f"process[{place}].{name}.{key}"] = value
                    found.update(_model(f"files of process[{place}].{name}.{key}", key, value))
    for key, value in recipe.items():
        if key not in HARMLESS_SETTINGS:
            found[key] = value
    for custom in recipe.get("custom_operator_paths") or []:
        full = os.path.normpath(os.path.join(folder, os.path.expanduser(custom)))
        found[f"custom_operator_paths {os.path.basename(full)}"] = _fingerprint(full, ".py")
    return found


def _model(name, key, value):
    """A model that lies in a file or folder may change where it lies. Folders for results change all the time."""
    if _MODEL.search(key) and isinstance(value, str) and os.path.isabs(value) and os.path.exists(value):
        yield name, _fingerprint(value, "")


def _fingerprint(path, suffix):
    digest = hashlib.sha256()
    for file in _below(path, suffix):
        size = os.path.getsize(file)
        digest.update(f"{os.path.relpath(file, path)}\n{size}\n".encode())
        if size <= WHOLE:
            with open(file, "rb") as f:
                digest.update(f.read())
    return digest.hexdigest()


def _below(path, suffix):
    if os.path.isfile(path):
        yield path
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(suffix))
