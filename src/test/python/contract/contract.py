"""The same work in the form of each engine, for EngineContractIT: what befalls it stands in the record."""

import json
import os
import signal
import sys
import threading
from pathlib import Path

MARKS = Path(os.environ["CONTRACT_FOLDER"])


def work(record):
    """What the record's text becomes."""
    does = record["does"]
    if does == "print":
        for stream in (sys.stdout, sys.stderr):
            stream.write("x" * (8 << 20))  # no line end
            stream.write("a line\n" * 100_000)
            stream.flush()
    elif does == "raise":
        raise LookupError(f"no word for {record['id']}")
    elif does == "sys.exit":
        sys.exit(3)
    elif does == "loop":
        (MARKS / "loops").touch()
        while True:
            pass
    elif does and _first_time(does):
        if does == "memory":
            bytearray(1 << 60)
        elif does == "killed":  # as the system does where memory ends
            os.kill(os.getpid(), signal.SIGKILL)
        elif does == "hang":
            threading.Event().wait()
    return record["text"].upper()


def _first_time(name):
    try:
        (MARKS / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def plan():  # engine plan-execute
    with open(os.environ["CONTRACT_RECORDS"], encoding="utf-8") as f:
        yield from map(json.loads, f)


def execute(item):
    return {**item, "text": work(item)}


def run(mini_batch):  # engine mini-batch
    records = [json.loads(Path(path).read_text(encoding="utf-8")) for path in mini_batch]
    return [json.dumps({**record, "text": work(record)}) for record in records]


def setup_worker(context):  # engine plan-execute
    _start()


def init():  # engine mini-batch
    _start()


def _start():
    pass


if "data_juicer" in sys.modules:  # engine data-juicer, which loads this file as one with operators
    from data_juicer.ops.base_op import OPERATORS, Mapper

    @OPERATORS.register_module("contract_mapper")
    class ContractMapper(Mapper):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            _start()

        def process_single(self, sample):
            sample["text"] = work(sample)
            return sample


if __name__ == "__main__":  # engine command
    _start()
    with open(sys.argv[1], encoding="utf-8") as lines, open(sys.argv[2], "w", encoding="utf-8") as out:
        for line in lines:
            out.write(json.dumps(execute(json.loads(line))) + "\n")
