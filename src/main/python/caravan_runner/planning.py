"""The plan of a job: what plan() yields, one item a line, each id once."""

import asyncio
import inspect
import json
import os
import uuid

from caravan_runner import records, script

NAMESPACE = uuid.UUID("5f0d0c52-2f2f-4a0e-8a3f-0f6f6f1f3c11")


class BadItem(Exception):
    """plan() yields what cannot be an item."""


def plan(request):
    """request: see ScriptInput.java. Writes request["output"] and returns counts."""
    options = request["execution"]["plan_execute"]
    made = script.load(request["script"], request["execution"]["script"]).plan()
    done = ids_done(options)
    counts = {"items": 0, "repeated": 0, "skipped": 0, "generated": 0}
    seen, equal = set(), {}
    with open(request["output"], "w", encoding="utf-8") as f:
        for number, item in enumerate(each(made), 1):
            item = _checked(number, item)
            if "id" not in item:
                if not options["generate_ids"]:
                    raise BadItem(f"item {number} of plan(): expected a key 'id', which tells it from others and from one run "
                                  f"to the next, found keys {list(item)[:10]}: add one, or ask for generated ids "
                                  "(--generate-ids, plan_execute.generate_ids)")
                item = {"id": _generated(item, equal), **item}
                counts["generated"] += 1
            key = key_of(number, item["id"])
            if key in seen:
                counts["repeated"] += 1
                continue
            seen.add(key)
            if key in done:
                counts["skipped"] += 1
                continue
            f.write(records.dumps(item) + "\n")
            counts["items"] += 1
            if counts["items"] == options["limit"]:
                break
        f.flush()
        os.fsync(f.fileno())
    with open(request["counts"], "w", encoding="utf-8") as f:
        json.dump(counts, f)
    return counts


def each(made):
    """What is in an iterable, an asynchronous one, or one that must be awaited first."""
    if not (inspect.isawaitable(made) or hasattr(made, "__aiter__")):
        if isinstance(made, (dict, str, bytes)) or not hasattr(made, "__iter__"):
            raise BadItem(f"plan(): expected something that yields items, found {type(made).__name__}")
        yield from made
        return
    loop = asyncio.new_event_loop()
    try:
        if inspect.isawaitable(made):
            made = loop.run_until_complete(made)
        if not hasattr(made, "__aiter__"):
            yield from each(made)
            return
        source = made.__aiter__()
        while True:
            try:
                item = loop.run_until_complete(source.__anext__())
            except StopAsyncIteration:
                return
            yield item
    finally:
        loop.close()


def _checked(number, item):
    if not isinstance(item, dict):
        raise BadItem(f"item {number} of plan(): expected a dict, found {type(item).__name__}")
    try:
        return records.plain(item)
    except records.CannotWrite as e:
        raise BadItem(f"item {number} of plan(): expected what JSON can say, found {e}") from None


def key_of(number, value):
    if isinstance(value, str) and value or isinstance(value, int) and not isinstance(value, bool):
        return json.dumps(value)
    raise BadItem(f"item {number} of plan(): expected an id that is a text or a whole number, found {value!r}")


def _generated(item, equal):
    """The same for the same item in each run; equal items get one each."""
    text = json.dumps(item, sort_keys=True)
    equal[text] = equal.get(text, 0) + 1
    return str(uuid.uuid5(NAMESPACE, f"{text} {equal[text]}"))


def ids_done(options):
    """Ids that a sink has results or failures of, without the kinds that are to be planned again."""
    if not options["resume"]:
        return set()
    done = {key for key, _ in _rows(options["sink"], "ready.ndjson")}
    return done | {key for key, row in _rows(options["sink"], "failures.ndjson")
                   if row.get("error_kind") not in options["rerun_failed"]}


def _rows(sink, name):
    try:
        with open(os.path.join(sink, name), "rb") as f:
            for line in f:
                try:
                    row = json.loads(line)
                    yield json.dumps(row["id"]), row
                except (ValueError, KeyError, TypeError):
                    continue  # a line that was cut off: its item is planned again
    except FileNotFoundError:
        return
