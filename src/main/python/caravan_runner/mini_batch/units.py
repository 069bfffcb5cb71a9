"""Cuts inputs into mini-batches: one JSON object a line, which says what a mini-batch is made of.

A mini-batch of files: {"mini_batch": n, "files": [PART, ...]}; a PART has path, size and mtime_ns, so that a file that
changes is noticed. A mini-batch of rows: {"mini_batch": n, "tables": [PART, ...]}, of which there is more than one only
where small files are put together. A PART of a larger file has offset and length, or row_groups.
"""

import json
import os

from caravan_runner.mini_batch import tables
from caravan_runner.ray_folder import log

FILE, TABULAR = "file", "tabular"


class BadInputs(Exception):
    """The inputs cannot be cut into mini-batches."""


def plan(request):
    """Writes request["output"]. Returns what is told of it; raises BadInputs."""
    settings = request["execution"]["mini_batch"]
    size, kind = settings["mini_batch_size"], settings["dataset_type"]
    warnings = []
    files = list(_files(settings["inputs"], kind, warnings))
    if not files:
        raise BadInputs("no input: expected at least one file" + ("" if kind == FILE else
                        f" that ends in {', '.join(tables.SUFFIXES)}") + "; " + ("; ".join(warnings) or "found nothing"))
    batches = _of_files(files, size) if kind == FILE else _of_rows(files, size["bytes"], warnings)
    count = 0
    with open(request["output"], "w", encoding="utf-8") as f:
        for count, batch in enumerate(batches, 1):
            f.write(json.dumps({"mini_batch": count - 1, **batch}) + "\n")
        f.flush()
        os.fsync(f.fileno())
    if not count:
        raise BadInputs(f"no rows in {len(files)} input files: " + "; ".join(warnings))
    log(f"{len(files)} files make {count} mini-batches")
    for warning in warnings:
        log(warning)
    return {"ok": True, "items": count, "warnings": warnings}


def _files(inputs, kind, warnings):
    """In the order of the inputs; of a folder by relative path, compared as bytes."""
    seen, skipped = set(), []
    for place in inputs:
        if os.path.isdir(place):
            found = sorted(_below(place), key=os.fsencode)
        elif os.path.exists(place):
            found = [place]
        else:
            raise BadInputs(f"the input {place} does not exist on this node: check the path and that it is mounted")
        for path in found:
            if kind == TABULAR and not tables.is_table(path):
                if path == place:
                    raise BadInputs(f"the input {path} is no table: expected a file that ends in {', '.join(tables.SUFFIXES)}"
                                    " (uncompressed), or dataset_type: file")
                skipped.append(path)
                continue
            try:
                path.encode()
            except UnicodeEncodeError:
                raise BadInputs(f"the name of input {os.fsencode(path)!r} is not UTF-8: rename it") from None
            if path in seen:
                raise BadInputs(f"the input {path} is listed twice: name each file or folder once")
            seen.add(path)
            yield path
    if skipped:
        warnings.append(f"{len(skipped)} files are no tables ({', '.join(tables.SUFFIXES)}) and were not read, the first "
                        + ", ".join(skipped[:3]))


def _below(folder):
    """All files below a folder but hidden ones. Links are followed, each real folder once."""
    seen = {os.path.realpath(folder)}
    for here, folders, names in os.walk(folder, followlinks=True):
        kept = []
        for name in folders:
            real = os.path.realpath(os.path.join(here, name))
            if not name.startswith(".") and real not in seen:
                seen.add(real)
                kept.append(name)
        folders[:] = kept
        for name in names:
            if not name.startswith("."):
                yield os.path.join(here, name)


def stamp(path):
    try:
        state = os.stat(path)
    except OSError as e:
        raise BadInputs(f"the input {path} cannot be read: {e.strerror}") from e
    return {"path": path, "size": state.st_size, "mtime_ns": state.st_mtime_ns}


def _of_files(files, size):
    """So many files, or as many as have so many bytes together, at least one."""
    batch, total = [], 0
    for path in files:
        part = stamp(path)
        full = len(batch) >= size["count"] if size.get("count") else batch and total + part["size"] > size["bytes"]
        if full:
            yield {"files": batch}
            batch, total = [], 0
        batch.append(part)
        total += part["size"]
    yield {"files": batch}


def _of_rows(files, size, warnings):
    """A file of more bytes is cut; neighbours of fewer together, and of one form, are read as one."""
    group, total = [], 0
    for path in files:
        part = stamp(path)
        form = tables.form_of(path)
        try:
            if not form.has_rows(path):
                warnings.append(f"{path} has no rows")
                continue
            if group and (total + part["size"] > size or tables.form_of(group[0]["path"]) is not form):
                yield {"tables": group}
                group, total = [], 0
            if part["size"] <= size:
                group.append(part)
                total += part["size"]
            else:
                for piece in form.pieces(path, size):
                    yield {"tables": [{**part, **piece}]}
        except (OSError, ValueError) as e:
            raise BadInputs(f"the input {path} cannot be read as {form.name}: {type(e).__name__}: {e}") from e
    if group:
        yield {"tables": group}
