"""Counts the words of text files. run() gets their paths, and returns a line for each."""

from pathlib import Path

from caravan_runner.entry import EntryScript


def init():
    EntryScript().logger.info("ready")


def run(mini_batch):
    EntryScript().logger.info("%d files", len(mini_batch))
    return [f"{Path(path).name}: {len(Path(path).read_text('utf-8').split())}" for path in mini_batch]


def shutdown():
    EntryScript().logger.info("done")
