"""What Data-Juicer 1.6.1 does wrong for shards; each is corrected only where it is there."""

import importlib.abc
import importlib.util
import os
import sys


def accept_restricted_numbers():
    """Its preflight refuses each value of a jsonargparse restricted type, defaults included: min_score: 0.1 "expects
    type 'ClosedUnitInterval', got 'float'". dj-process fails on those operators for that reason alone."""
    from data_juicer.core import preflight

    original = getattr(preflight, "_type_compatible", None)
    if original is None or getattr(original, "_caravan", False):
        return

    def compatible(value, expected):
        restricted = isinstance(expected, type) and expected.__module__.startswith("jsonargparse")
        if restricted and isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                expected(value)
                return True
            except (TypeError, ValueError):
                return False
        return original(value, expected)

    compatible._caravan = True
    preflight._type_compatible = compatible


class PackageNotInstalled(ImportError):
    """An operator needs a package that this environment lacks."""

    advice = (
        "install it into the environment that python.executable names (the managed one has no torch, no GPU packages), "
        "or set DATA_JUICER_ALLOW_INSTALL=1 to let Data-Juicer install it by itself"
    )


def forbid_installation(environ=os.environ):
    """Data-Juicer installs what an operator lacks with pip, in the middle of a shard: gigabytes of torch, of whatever
    version is new that day, into an environment that other shards are using. Here the lack is an error instead.

    Takes effect when Data-Juicer's module is imported, now or later: importing it just for this costs a second.
    """
    if environ.get("DATA_JUICER_ALLOW_INSTALL") == "1":
        return
    if LAZY_LOADER in sys.modules:
        _refuse_to_install(sys.modules[LAZY_LOADER])
    elif not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport())


LAZY_LOADER = "data_juicer.utils.lazy_loader"


def _refuse_to_install(module):
    def refuse(cls, package_spec, pip_args=None):
        raise PackageNotInstalled(f"an operator needs the Python package {package_spec}, which {sys.executable} lacks")

    if hasattr(module.LazyLoader, "_install_package"):
        module.LazyLoader._install_package = classmethod(refuse)


class _AfterImport(importlib.abc.MetaPathFinder):
    """Finds nothing itself; changes the one module right after the usual import of it."""

    def find_spec(self, name, path=None, target=None):
        if name != LAZY_LOADER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module

        def run_and_change(module):
            run(module)
            _refuse_to_install(module)

        spec.loader.exec_module = run_and_change
        return spec
