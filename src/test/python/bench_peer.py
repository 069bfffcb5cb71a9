"""The algorithms of the peer, for benchmarks: two passes over the input, every line parsed and written anew.

    bench_peer.py prepare INPUT.jsonl SHARD_FOLDER NUM_SHARDS
    bench_peer.py merge RESULTS.txt OUTPUT.jsonl      lines of RESULTS: rows, sha256, path
    bench_peer.py work SHARD_FOLDER RESULT_FOLDER RECIPE DJ_PROCESS MOST_SHARDS    a node: one shard after the other
"""

import hashlib
import json
import os
import subprocess
import sys


def records(path):
    with open(path, "rb") as lines:
        for line in lines:
            record = json.loads(line.decode("utf-8"))
            if not isinstance(record, dict):
                raise ValueError(f"{path}: not an object")
            yield line, record


def normalised(record):
    return (json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8")


def prepare(source, folder, shards):
    rows = total = 0
    raw, written = hashlib.sha256(), hashlib.sha256()
    for line, record in records(source):
        raw.update(line)
        data = normalised(record)
        written.update(data)
        rows += 1
        total += len(data)
    again, shard, filled, done = hashlib.sha256(), 0, 0, 0
    os.mkdir(folder)
    out, digest = None, None
    for line, record in records(source):
        again.update(line)
        data = normalised(record)
        if out is None or (shard < shards - 1 and done + len(data) // 2 >= total * (shard + 1) // shards):
            if out is not None:
                finish(out)
                shard += 1
            out = open(os.path.join(folder, f"part-{shard:05d}-of-{shards:05d}.jsonl"), "wb")
            digest = hashlib.sha256()
        out.write(data)
        digest.update(data)
        done += len(data)
    finish(out)
    if again.digest() != raw.digest():
        raise ValueError("Input changed between the scan and write passes")


def finish(out):
    out.flush()
    os.fsync(out.fileno())
    out.close()


def merge(results, output):
    whole = hashlib.sha256()
    with open(output + ".tmp", "wb") as out:
        for result in open(results):
            rows, sha256, path = result.split(maxsplit=2)
            found, digest = 0, hashlib.sha256()
            for line, _ in records(path.strip()):
                digest.update(line)
                whole.update(line)
                out.write(line)
                found += 1
            if found != int(rows) or digest.hexdigest() != sha256:
                raise ValueError(f"{path} was changed")
        out.flush()
        os.fsync(out.fileno())
    os.replace(output + ".tmp", output)


def work(shards, results, recipe, dj_process, most):
    for name in sorted(os.listdir(shards)):
        if most == 0:
            return
        try:
            os.close(os.open(os.path.join(results, name + ".lock"), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            continue
        most -= 1
        attempt = os.path.join(results, name + ".attempt")
        os.mkdir(attempt)
        process(os.path.join(shards, name), attempt, recipe, dj_process)
        rows, digest = 0, hashlib.sha256()
        for line, _ in records(os.path.join(attempt, "processed.jsonl")):
            digest.update(line)
            rows += 1
        with open(os.path.join(results, name + ".result.tmp"), "w") as done:
            done.write(f"{rows} {digest.hexdigest()} {attempt}/processed.jsonl\n")
            done.flush()
            os.fsync(done.fileno())
        os.rename(done.name, os.path.join(results, name + ".result"))


def process(shard, attempt, recipe, dj_process):
    exported = os.path.join(attempt, "ray-output.jsonl")
    with open(os.path.join(attempt, "process.log"), "wb") as log:
        subprocess.run(
            [dj_process, "--config", recipe, "--dataset_path", shard, "--export_path", exported,
             "--executor_type", "ray", "--ray_address", "local"],
            check=True, cwd=attempt, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    files = [exported]
    if os.path.isdir(exported):
        files = sorted(os.path.join(exported, name) for name in os.listdir(exported) if name.endswith(".json"))
    with open(os.path.join(attempt, "processed.tmp"), "wb") as out:
        for file in files:
            for line, _ in records(file):
                out.write(line)
        finish(out)
    os.replace(out.name, os.path.join(attempt, "processed.jsonl"))


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    elif sys.argv[1] == "work":
        work(*sys.argv[2:6], int(sys.argv[6]))
    else:
        merge(sys.argv[2], sys.argv[3])
