"""Operators that may make something else of the same record in another run: they draw random numbers or ask a model."""

import inspect
import re
import sys

_RANDOM = re.compile(
    r"^\s*(import|from) (random|secrets|uuid)\b|\b(np|numpy|torch)\.rand|\bLazyLoader\(\"(nlpaug|nlpcda)\b", re.MULTILINE)
_MODEL = re.compile(
    r"\b(prepare_model|get_model)\(|\bmodel_key\b|^\s*(import|from) (torch|transformers|vllm)\b"
    r"|\bLazyLoader\(\"(torch|transformers|vllm)\b", re.MULTILINE)


def of(operator):
    """Why the operator's class may, by the source of the modules that it is made of; or None."""
    modules = {c.__module__ for c in operator.__mro__} - {"data_juicer.ops.base_op", "builtins", "abc"}
    try:
        source = "\n".join(inspect.getsource(sys.modules[name]) for name in sorted(modules))
    except (OSError, TypeError, KeyError):
        return "its source cannot be read"
    if _RANDOM.search(source):
        return "random numbers"
    return "a model, if its arguments ask for one" if _MODEL.search(source) else None
