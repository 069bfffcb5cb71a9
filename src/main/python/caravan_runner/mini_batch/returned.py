"""What run() returned, as lines of text."""

import sys


class BadReturn(Exception):
    """Not a list of items, or an item that is not a line."""


def lines(result, wanted):
    """(how many items, their lines where they are wanted): an item of a list as str() has it, a row of a DataFrame as
    its values with a space between them."""
    pandas = sys.modules.get("pandas")  # a script that has not imported it returns nothing of it
    if pandas and isinstance(result, pandas.DataFrame):
        text = result.to_csv(sep=" ", header=False, index=False, lineterminator="\n") if wanted else ""
        items = text.split("\n")[:-1]
    elif isinstance(result, (list, tuple)) or pandas and isinstance(result, pandas.Series) or _is_array(result):
        items = [str(item) for item in result] if wanted else []
    else:
        raise BadReturn(f"run() must return a list or a pandas DataFrame, an item for each item of the mini-batch; found "
                        f"{type(result).__name__}")
    if not wanted:
        return len(result), []
    if len(items) != len(result) or any("\n" in item or "\r" in item for item in items):
        raise BadReturn("run() returned an item with a line break: each item becomes one line of the output")
    for item in items:
        item.encode()  # half a character has no place in a file
    return len(result), items


def _is_array(result):
    return type(result).__module__ == "numpy" and getattr(result, "ndim", 0) > 0
