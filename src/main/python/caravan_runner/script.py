"""The Python file of the user's that an engine runs: looked at before anything is run, and loaded."""

import ast
import importlib.util
import os
import sys

FUNCTIONS = {"plan-execute": ("plan", "execute"), "mini-batch": ("run",)}  # what a script must define, by engine


class BadScript(Exception):
    """The script cannot be run; the message tells file, line and what to do."""


def check(engine, path):
    """@raise BadScript"""
    try:
        with open(path, "rb") as f:
            tree = ast.parse(f.read(), path)
    except (OSError, UnicodeDecodeError) as e:
        raise BadScript(f"{path}: expected a Python file, found one that cannot be read ({e})") from None
    except SyntaxError as e:
        raise BadScript(f"{path}: line {e.lineno or 1}: expected Python, found {type(e).__name__}: {e.msg}") from None
    except ValueError as e:  # NUL bytes
        raise BadScript(f"{path}: line 1: expected Python, found {e}") from None
    for name in FUNCTIONS[engine]:
        if name not in _defined(tree):
            last = max((getattr(node, "end_lineno", 1) for node in tree.body), default=1)
            raise BadScript(f"{path}: line {last}: expected functions {' and '.join(FUNCTIONS[engine])}, as engine {engine} "
                            f"needs, found no {name} up to the end of the file: define it at the top level")


def _defined(tree):
    """Names that the top level binds, however deep in an `if` or a `try`."""
    found = set()
    todo = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
            if any(alias.name == "*" for alias in node.names):
                found.update(name for names in FUNCTIONS.values() for name in names)
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
        else:
            todo += [child for child in ast.iter_child_nodes(node) if isinstance(child, (ast.stmt, ast.ExceptHandler))]
    return found


def load(path, script):
    """The script as a module, in the surroundings that it would have as `python SCRIPT ARGUMENTS`, but not as __main__.

    path: the job's copy. script: what the job says of it, see Script.java.
    """
    working = script["working_directory"]
    if not os.path.isdir(working):
        raise BadScript(f"the working directory {working} of the script is not there on this node: name one by"
                        " working_directory that all nodes have")
    os.chdir(working)
    sys.dont_write_bytecode = True  # the copy is checked by its SHA-256
    sys.argv = [script["path"], *script["arguments"]]
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("caravan_script", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["caravan_script"] = module
    spec.loader.exec_module(module)
    return module
