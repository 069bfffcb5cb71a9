"""JSON Lines, CSV and Parquet files as pandas DataFrames, whole or in pieces that end where a row ends.

Values of JSON Lines are those of Python's json; types of CSV are those that pandas infers for each mini-batch.
"""

import io
import json
import os

BOM = b"\xef\xbb\xbf"


class JsonLines:
    name = "JSON Lines"

    @staticmethod
    def has_rows(path):
        with open(path, "rb") as f:
            return any(line.removeprefix(BOM).strip() for line in f)

    @staticmethod
    def pieces(path, size):
        with open(path, "rb") as f:
            start, end = 0, os.fstat(f.fileno()).st_size
            while start < end:
                f.seek(min(start + size, end) - 1)
                f.readline()
                yield {"offset": start, "length": f.tell() - start}
                start = f.tell()

    @staticmethod
    def read(part):
        import pandas

        lines = _bytes(part).removeprefix(BOM).split(b"\n")
        return pandas.DataFrame([json.loads(line) for line in lines if line.strip()])


class Csv:
    """With a header line, separated by commas; a quoted field may hold line breaks."""

    name = "CSV"

    @staticmethod
    def has_rows(path):
        with open(path, "rb") as f:
            _record(f)
            return any(line.strip() for line in f)

    @staticmethod
    def pieces(path, size):
        with open(path, "rb") as f:
            start = header = len(_record(f))
            position = start
            while record := _record(f):
                position += len(record)
                if position - start >= size:
                    yield {"offset": start, "length": position - start, "header": header}
                    start = position
            if position > start:
                yield {"offset": start, "length": position - start, "header": header}

    @staticmethod
    def read(part):
        import pandas

        head = _bytes({**part, "offset": 0, "length": part["header"]}) if "header" in part else b""
        return pandas.read_csv(io.BytesIO(head + _bytes(part)), low_memory=False)


class Parquet:
    name = "Parquet"

    @staticmethod
    def has_rows(path):
        return _parquet(path).metadata.num_rows > 0

    @staticmethod
    def pieces(path, size):
        """Row groups stay whole, as they are what can be read alone."""
        metadata = _parquet(path).metadata
        groups, total = [], 0
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            bytes_ = sum(group.column(c).total_compressed_size for c in range(group.num_columns))
            if groups and total + bytes_ > size:
                yield {"row_groups": groups}
                groups, total = [], 0
            groups.append(number)
            total += bytes_
        yield {"row_groups": groups}

    @staticmethod
    def read(part):
        file = _parquet(part["path"])
        return (file.read_row_groups(part["row_groups"]) if "row_groups" in part else file.read()).to_pandas()


FORMS = {".jsonl": JsonLines, ".ndjson": JsonLines, ".csv": Csv, ".parquet": Parquet}
SUFFIXES = tuple(FORMS)


def is_table(path):
    return os.path.splitext(path)[1].lower() in FORMS


def form_of(path):
    return FORMS[os.path.splitext(path)[1].lower()]


def read(parts):
    import pandas

    frames = [form_of(part["path"]).read(part) for part in parts]
    return frames[0] if len(frames) == 1 else pandas.concat(frames, ignore_index=True)


def _record(f):
    """A row of CSV: a line feed within quotes does not end it."""
    record = line = f.readline()
    inside = line.count(b'"') % 2
    while inside and (line := f.readline()):
        record += line
        inside ^= line.count(b'"') % 2
    return record


def _bytes(part):
    with open(part["path"], "rb") as f:
        f.seek(part.get("offset", 0))
        return f.read(part.get("length", -1))


def _parquet(path):
    from pyarrow import parquet

    return parquet.ParquetFile(path)
