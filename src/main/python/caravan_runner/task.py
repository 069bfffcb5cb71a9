"""For scripts of engine plan-execute: `from caravan_runner.task import context`."""

import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Context:
    """worker_id: names the worker's place on its node. rank: of the worker among all that a launcher counts.
    local_rank: on its node, from 0. device: cuda:0 (the only one that the worker sees) or cpu. output_dir: for files of the
    script's own; the same for all workers, on the shared directory. labels: what --worker-label says."""

    worker_id: str
    rank: int
    local_rank: int
    device: str
    job_id: str
    output_dir: str
    labels: dict = field(default_factory=dict)


_current = None


def context():
    """Of this worker."""
    if _current is None:
        raise RuntimeError("context() is known in workers only: in setup_worker, execute and teardown_worker")
    return _current


def make_current(request, index):
    global _current
    options = request["execution"]["plan_execute"]
    os.makedirs(request["output_dir"], exist_ok=True)
    _current = Context(
        worker_id=f"worker-{index}",
        rank=int(os.environ.get("RANK") or 0) + index,
        local_rank=index,
        device="cuda:0" if os.environ.get("CUDA_VISIBLE_DEVICES") else "cpu",
        job_id=request["job_id"],
        output_dir=request["output_dir"],
        labels=dict(label.partition("=")[::2] for label in options["labels"]),
    )
    return _current
