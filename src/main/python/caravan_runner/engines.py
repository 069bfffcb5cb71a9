"""Which class works through the requests of which engine.

A class is made with what SIGTERM is to do, and has `process(request)`, which returns the outcome of a success and raises
for anything else, `close()`, which leaves nothing of it behind, and `sources`, for outcome.failure. `warm` serves many
requests (see serve.py), `cold` one (see shard.py). `paths` are the keys of a request that name files of the job.
"""

import importlib
from collections import namedtuple

Engine = namedtuple("Engine", "paths addresses warm cold")
DEFAULT = "data-juicer"
ENGINES = {
    "data-juicer": Engine(("recipe",), ("local", "auto"), "data_juicer_warm.WarmOrCold", "data_juicer_engine.ColdEngine"),
    "plan-execute": Engine(("script",), ("local",), "plan_execute.PlanExecute", "plan_execute.PlanExecute"),
    "mini-batch": Engine(("script",), ("local",), *["mini_batch.engine.MiniBatchEngine"] * 2),
}


class EndedWith(Exception):
    """The shard was run by another process, which has left an outcome."""

    def __init__(self, status, outcome):
        super().__init__(f"ended with {status}")
        self.status, self.outcome = status, outcome


def named(name):
    if name not in ENGINES:
        raise ValueError(f"engine must be {' or '.join(ENGINES)}, found {name!r}")
    return ENGINES[name]


def make(place, on_stop):
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(f"caravan_runner.{module}"), name)(on_stop)
