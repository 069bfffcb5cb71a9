"""JSON records as text: what no operator touched keeps its bytes, and what one changed is written by one rule.

The rule: a changed or added member is written as json.dumps writes it, with non-ASCII characters as they are; NaN and
infinities become null; strings that are no valid Unicode (lone surrogates) are escaped. A changed member is written anew
as a whole and stays in its place; added ones follow at the end, in the order in which they came to be. Of a key that
stands twice the last one is what operators see and what is replaced. A key that the record lacks and whose new value is
null stays absent: to operators absent and null are the same, as they are in a table.
"""

import json
import math
import re
from json.decoder import scanstring

_SCALARS = {str, int, float, bool, type(None)}
_space = re.compile(r"[ \t\r\n]*").match
scan = json.JSONDecoder().scan_once


class CannotWrite(Exception):
    """A value that JSON has no form for."""


def members(text):
    """[(key, start of the key, start of the value, end of the value, value)] of the object that `text` is."""
    found, at = [], _space(text, 0).end()
    try:
        if text[at] != "{":
            raise ValueError(f"expected an object, found {text[at:at + 20]!r}")
        at = _space(text, at + 1).end()
        while text[at] != "}":
            if found:
                at = _space(text, _expect(text, at, ",")).end()
            start = at
            key, at = scanstring(text, _expect(text, at, '"'), True)
            at = _space(text, _expect(text, _space(text, at).end(), ":")).end()
            value, end = scan(text, at)
            found.append((key, start, at, end, value))
            at = _space(text, end).end()
    except (IndexError, StopIteration):
        raise ValueError(f"not a JSON object: {text[:80]!r}") from None
    return found


def _expect(text, at, what):
    if text[at] != what:
        raise ValueError(f"expected {what} at character {at}, found {text[at:at + 20]!r}")
    return at + 1


def splice(text, spans, changed, dropped, added):
    """The record with other values for the last of each key in `changed`, without `dropped`, with `added` at the end.

    spans: [(key, start, value start, value end)]; changed and added: {key: JSON text}.
    """
    if not (changed or dropped or added):
        return text
    last = {key: i for i, (key, *_) in enumerate(spans)}
    parts = [text[: spans[0][1] if spans else text.index("{") + 1]]
    first = True
    for i, (key, start, value, end) in enumerate(spans):
        if key in dropped:
            continue
        if not first:
            parts.append(text[spans[i - 1][3]:start])
        first = False
        parts += [text[start:value], changed[key]] if key in changed and last[key] == i else [text[start:end]]
    for key, value in added.items():
        parts.append(f"{'' if first else ', '}{dumps(key)}: {value}")
        first = False
    parts.append(text[spans[-1][3] if spans else text.rindex("}"):])
    return "".join(parts)


def dumps(value):
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return json.dumps(_finite(value))
    return text


def _finite(value):
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list) else value


def same(a, b):
    """Equal as JSON: 1, 1.0 and true are three values."""
    if type(a) is not type(b):
        return False
    if type(a) is dict:
        return len(a) == len(b) and all(k in b and same(v, b[k]) for k, v in a.items())
    if type(a) is list:
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def plain(value):
    """The value in JSON's own types: numpy's, tuples and dictionaries of other kinds become these, as in a table."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise CannotWrite(f"a key that is no string: {key!r}")
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, str):
        return str.__str__(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise CannotWrite(f"a value of type {type(value).__name__}")


def plain_column(values):
    values = values if type(values) is list else list(values)
    return values if set(map(type, values)) <= _SCALARS else [plain(v) for v in values]


def filled(values):
    """Objects of one column with the keys of all of them, null where they lack one, as in a table; new objects."""
    kinds = set(map(type, values))
    if dict in kinds:
        keys = dict.fromkeys(k for v in values if type(v) is dict for k in v)
        columns = {k: iter(filled([v.get(k) for v in values if type(v) is dict])) for k in keys}
        values = [{k: next(columns[k]) for k in keys} if type(v) is dict else v for v in values]
    if list in kinds:
        items = iter(filled([item for v in values if type(v) is list for item in v]))
        values = [[next(items) for _ in v] if type(v) is list else v for v in values]
    return values


def restored(original, value):
    """What an operator left, without the nulls that `filled` put where the record had nothing."""
    if type(original) is dict and type(value) is dict:
        return {k: restored(original.get(k), v) for k, v in value.items() if v is not None or k in original}
    if type(original) is list and type(value) is list and len(original) == len(value):
        return [restored(a, b) for a, b in zip(original, value)]
    return value
