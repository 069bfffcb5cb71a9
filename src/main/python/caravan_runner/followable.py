"""What of a recipe can run in operators that outlive a shard, and which keys of the records its operators look at."""

import inspect
import re

# Ways to look at a record other than by a key that is an attribute of the operator, or by one of Data-Juicer's own.
_OTHER_KEYS = re.compile(
    r"\bsamples?\[(?!\s*(self\.\w*_key|Fields\.\w+)\s*\])|\bsamples?\.\w|\((\*\*)?samples?[,)]|\bin samples?\b[^\[]|=\s*samples?\s*$",
    re.MULTILINE)
_SIGNATURE = re.compile(r"def (process|compute_stats)_(single|batched)\(\s*self,\s*(?P<first>\w+)")
_DATASETS = re.compile(r"^\s*(from|import) datasets\b|\bNestedDataset\b|\bray\.data\b", re.MULTILINE)
_SEVERAL = {"extract_event_mapper", "generate_qa_from_text_mapper", "text_chunk_mapper"}
# Settings of a recipe that the executor acts on, not the operators, and the values that mean "not asked for".
_EXECUTOR = {
    "op_fusion": "it fuses operators",
    "open_tracer": "it traces operators",
    "elastic_juicer_adaptive_batching": "it sizes batches as it goes",
    "decrypt_after_reading": "it reads encrypted data",
    "encrypt_before_export": "it writes encrypted data",
    "export_extra_args": "it changes how results are written",
    "read_options": "it changes how records are read",
    "generated_dataset_config": "it makes its own data",
    "validators": "it validates the whole data set",
}


def makes_several(name):
    """Why an operator may make several records of one, by its type; or None. Others are found at it: see chain.NotAlone."""
    from data_juicer.ops import OPERATORS

    operator = OPERATORS.modules[name]
    if any("keep_original_sample" in inspect.signature(cls.__init__).parameters
           for cls in operator.__mro__ if "__init__" in vars(cls)):
        return "makes further records of one (it has keep_original_sample)"
    return "makes several records of one" if name in _SEVERAL else None


def obstacle(cfg):
    """Why the recipe needs Data-Juicer's executor, or None."""
    from data_juicer.ops import OPERATORS, Filter, Mapper

    for setting, why in _EXECUTOR.items():
        if cfg.get(setting):
            return f"{setting}: {why}"
    if (cfg.get("min_common_dep_num_to_combine") or -1) >= 0:
        return "min_common_dep_num_to_combine: operators run in environments of their own"
    for entry in cfg.process:
        for name, args in entry.items():
            operator = OPERATORS.modules[name]
            if not issubclass(operator, (Mapper, Filter)):
                return f"operator {name}: is neither a Mapper nor a Filter"
            if "ray" not in operator._supported_exec_modes:
                return f"operator {name}: does not run on Ray"
            if (args or {}).get("runtime_env"):
                return f"operator {name}: runtime_env asks for an environment of its own"
            if hasattr(operator, "_prepare_for_ray_map_batches"):
                return f"operator {name}: shares state between Ray's tasks"
            source = _source(operator)
            if source is None:
                return f"operator {name}: its source cannot be read"
            if _DATASETS.search(source):
                return f"operator {name}: uses the data set, not only its rows"
            if "self.work_dir" in source:
                return f"operator {name}: writes to the work directory of an attempt"
    return None


def _source(operator):
    """Of the class and all it inherits from below Data-Juicer's bases."""
    texts = []
    for cls in operator.__mro__:
        if cls.__module__ not in ("data_juicer.ops.base_op", "builtins", "abc"):
            try:
                texts.append(inspect.getsource(cls))
            except (OSError, TypeError):
                return None
    return "\n".join(texts)


def wanted_keys(process):
    """The keys of a record that the operators may look at; None when that is not known: then they get all of them.

    A key in this set is one that an argument or the default of one names; dotted names reach into an object.
    """
    from data_juicer.ops import OPERATORS

    keys = set()
    for entry in process:
        for name, args in entry.items():
            operator = OPERATORS.modules[name]
            declared = (args or {}).get("input_columns", operator._input_columns)
            if declared is not None:
                for column in [declared] if isinstance(declared, str) else declared:
                    _add(keys, column)
            elif not operator.__module__.startswith("data_juicer.ops.") or _looks_further(operator):
                return None
            _strings(args or {}, keys)
            for default, _ in [(d, k) for k, (_, d) in operator._BASE_PARAMS.items() if k.endswith("_key")]:
                _add(keys, default)
            for cls in operator.__mro__:
                if "__init__" in vars(cls):
                    for parameter in inspect.signature(cls.__init__).parameters.values():
                        _add(keys, parameter.default)
    return keys


def _looks_further(operator):
    source = _source(operator)
    firsts = {m.group("first") for m in _SIGNATURE.finditer(source)}
    return not firsts <= {"sample", "samples"} or bool(_OTHER_KEYS.search(_SIGNATURE.sub("", source)))


def _strings(value, keys):
    if isinstance(value, dict):
        for k, v in value.items():
            _add(keys, k)
            _strings(v, keys)
    elif isinstance(value, (list, tuple, set)):
        for v in value:
            _strings(v, keys)
    else:
        _add(keys, value)


def _add(keys, value):
    if isinstance(value, str) and len(value) < 1000:
        keys.add(value)
        keys.add(value.split(".", 1)[0])
