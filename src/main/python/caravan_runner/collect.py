"""The sink of plan-execute: results and failures of all runs in a few files, each replaced as a whole.

ready.ndjson: a result a line. failures.ndjson: an item that failed or was cancelled a line. checkpoint.json: how many of
each. summary.json: what the results say in `metrics` and `artifacts`. To collect a job again changes nothing.
"""

import json
import os
import time

from caravan_runner import records, task_worker
from caravan_runner.commit_log import Committed
from caravan_runner.ray_folder import log


def collect(request):
    """request: see SinkRequest.java. Returns counts of this job's items.

    Items of which nothing is known are failures of kind cancelled where request["cancelled"] says so, else left out.
    """
    sink = request["sink"]
    os.makedirs(sink, exist_ok=True)
    ready, failures = _known(sink, "ready.ndjson"), _known(sink, "failures.ndjson")
    counts = {"ok": 0, "fail": 0, "cancelled": 0}
    with open(request["rows"], "wb") as rows:
        for key, ok, line in _items(request):
            rows.write(line + b"\n")
            if ok:
                counts["ok"] += 1
                ready.setdefault(key, line)
                failures.pop(key, None)
            elif key not in ready:
                counts["cancelled" if json.loads(line)["error_kind"] == "cancelled" else "fail"] += 1
                failures[key] = line
    _replace(sink, "ready.ndjson", ready.values())
    _replace(sink, "failures.ndjson", failures.values())
    _replace(sink, "summary.json", [_dumped(_summary(ready.values()))])
    cancelled = sum(1 for line in failures.values() if json.loads(line).get("error_kind") == "cancelled")
    _replace(sink, "checkpoint.json", [_dumped({
        "ok": len(ready), "fail": len(failures) - cancelled, "cancelled": cancelled,
        "skipped": _planned(request)["skipped"], "dispatched": counts["ok"] + counts["fail"],
        "updated_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})])
    return {**counts, "skipped": _planned(request)["skipped"]}


def _planned(request):
    with open(request["counts"], encoding="utf-8") as f:
        return json.load(f)


def _known(sink, name):
    """{id as JSON: line}, in order. A line that was cut off is left out: its item is not done."""
    found = {}
    path = os.path.join(sink, name)
    if os.path.exists(path):
        with open(path, "rb") as f:
            for number, line in enumerate(f, 1):
                try:
                    found[json.dumps(json.loads(line)["id"])] = line.rstrip(b"\n")
                except (ValueError, KeyError, TypeError):
                    log(f"{path}, line {number}: expected a JSON object with an id, found {line[:80]!r}; it does not count")
    return found


def _items(request):
    """(id as JSON, whether it succeeded, row) in the order of the plan."""
    with open(request["plan"], "rb") as plan:
        for shard in request["shards"]:
            items = [json.loads(plan.readline())["id"] for _ in range(shard["rows"])]
            known = _done(shard) if shard["output"] else _committed(shard["checkpoints"])
            for item_id in items:
                key = json.dumps(item_id)
                if key in known:
                    yield (key, *known[key])
                elif request["cancelled"]:
                    row = task_worker.failure(item_id, "cancelled", {"error": "the run was ended before it was done"})
                    yield key, False, row


def _done(shard):
    known = {}
    for path, ok in ((shard["output"], True), (shard["failed"], False)):
        if path:
            with open(path, "rb") as f:
                for line in f:
                    row = json.loads(line)
                    key = json.dumps(row["id"])
                    if not ok:
                        row.pop("line")
                        row.pop("sha256")
                    known[key] = ok, line.rstrip(b"\n") if ok else records.dumps(row).encode()
    return known


def _committed(folder):
    committed = Committed()
    if os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            committed.add(os.path.join(folder, name), None)
    return {key: (meta["ok"], row) for key, (row, meta) in committed.items()}


def _summary(lines):
    metrics, artifacts = {}, 0
    for line in lines:
        result = json.loads(line).get("result") or {}
        found = result.get("artifacts")
        artifacts += len(found) if isinstance(found, list) else 0
        measured = result.get("metrics")
        for name, value in (measured.items() if isinstance(measured, dict) else ()):
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                known = metrics.setdefault(name, {"count": 0, "sum": 0})
                known["count"] += 1
                known["sum"] += value
    for known in metrics.values():
        known["mean"] = known["sum"] / known["count"]
    return {"items": len(lines), "metrics": metrics, "artifacts": artifacts}


def _dumped(value):
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def _replace(sink, name, lines):
    path = os.path.join(sink, name)
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as f:
            f.writelines(line + b"\n" for line in lines)
            f.flush()
            os.fsync(f.fileno())
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
