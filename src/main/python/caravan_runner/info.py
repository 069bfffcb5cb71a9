"""What is installed, read from package metadata: importing Ray or Data-Juicer would cost seconds."""

import importlib.metadata
import importlib.util
import platform
import sys
from pathlib import Path

ADVICE = "run `caravan python setup`, or set python.executable to an environment that has it"


class MissingPackage(Exception):
    """A package that the runner cannot do without is not installed."""


def _version(distribution):
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise MissingPackage(f"{sys.executable} has no package {distribution}: {ADVICE}") from None


def data_juicer_version():
    """Data-Juicer's version; a source checkout on PYTHONPATH counts although it has no package metadata."""
    try:
        return _version("py-data-juicer")
    except MissingPackage:
        folder = _package_folder("data_juicer")
        if folder is None:
            raise
        for line in (folder / "__init__.py").read_text(encoding="utf-8").splitlines():
            if line.startswith("__version__"):
                return line.split("=", 1)[1].strip().strip("\"'")
        return "unknown"


def _package_folder(name):
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).resolve().parent if spec is not None and spec.origin else None


def code_version():
    """Names the Data-Juicer code: its version and, when it is imported from a git checkout, the commit."""
    version = data_juicer_version()
    folder = _package_folder("data_juicer")
    commit = _git_commit(folder.parent) if folder is not None else None
    return f"{version}+git.{commit}" if commit else version


def _git_commit(checkout):
    """The commit of a checkout whose top folder is exactly this one; a virtual environment inside some
    other project's checkout is not Data-Juicer's. Read from the files: git may be absent."""
    git = checkout / ".git"
    try:
        if git.is_file():  # a worktree: "gitdir: <folder>"
            git = (checkout / git.read_text(encoding="utf-8").partition(":")[2].strip()).resolve()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref:"):
            return head
        ref = head.partition(":")[2].strip()
        common = git / "commondir"
        roots = [git] + ([(git / common.read_text(encoding="utf-8").strip()).resolve()] if common.is_file() else [])
        for root in roots:
            if (root / ref).is_file():
                return (root / ref).read_text(encoding="utf-8").strip()
        for line in (roots[-1] / "packed-refs").read_text(encoding="utf-8").splitlines():
            commit, _, name = line.partition(" ")
            if name == ref:
                return commit
    except OSError:
        pass
    return None


def collect():
    return {
        "python": platform.python_version(),
        "executable": sys.executable,
        "data_juicer": data_juicer_version(),
        "ray": _version("ray"),
        "pyarrow": _version("pyarrow"),
        "code_version": code_version(),
    }
