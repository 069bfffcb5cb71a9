"""A worker of engine plan-execute: a Ray actor, which loads the script once and lives from item to item."""

import asyncio
import inspect
import json
import os
import traceback

from caravan_runner import outcome, records, script, task


class NotADict(TypeError):
    """execute() returns what is no result."""


class Worker:
    def __init__(self, request, index):
        context = task.make_current(request, index)
        self.module = script.load(request["script"], request["execution"]["script"])
        if hasattr(self.module, "setup_worker"):
            _finished(self.module.setup_worker(context))

    def ready(self):
        return os.getpid()

    def execute(self, line):
        """(whether it succeeded, bytes of the row). What is no fault of the item is raised."""
        item = json.loads(line)
        try:
            result = _finished(self.module.execute(item))
            if not isinstance(result, dict):
                raise NotADict(f"execute() must return a dict, found {type(result).__name__}")
            return True, records.dumps({"id": item["id"], "result": records.plain(result)}).encode()
        except BaseException as e:
            if outcome.is_infra(e):
                raise
            traceback.print_exc()
            return False, failure(item["id"], "execute", outcome.culprit(e, ()))

    def teardown(self):
        if hasattr(self.module, "teardown_worker"):
            _finished(self.module.teardown_worker())


def failure(item_id, kind, culprit):
    """A row of failures.ndjson."""
    row = {"id": item_id, "error_kind": kind, "retryable": kind != "execute", **culprit}
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _finished(value):
    return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value


async def _awaited(value):
    return await value
