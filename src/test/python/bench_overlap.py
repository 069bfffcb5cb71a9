"""How busy the warm runner is over a job of many small shards, with and without claiming ahead.

    python3 src/test/python/bench_overlap.py --python INTERPRETER [--shards 60] [--rows 2000] [--rounds 2]

INTERPRETER has Data-Juicer and Ray; target/caravan.jar must be built. The node is given this file as its interpreter: it
passes everything on, and notes when a request goes to the warm runner and when its answer comes back. The first shard,
which starts Ray, does not count.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLONE = os.path.join(HERE, "..", "..", "..")
SAMPLE = os.path.join(CLONE, "samples", "quickstart")
JAR = os.path.join(CLONE, "target", "caravan.jar")


def as_interpreter(arguments):
    real = os.environ["BENCH_PYTHON"]
    if "serve" not in arguments:
        os.execv(real, [real, *arguments])
    with open(os.environ["BENCH_TIMES"], "a", buffering=1) as times:
        runner = subprocess.Popen([real, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def relay(source, target, what):
            for line in source:
                times.write(f"{what} {time.monotonic()}\n")
                target.write(line)
                target.flush()
            target.close()

        threading.Thread(target=relay, args=(sys.stdin.buffer, runner.stdin, "asked"), daemon=True).start()
        relay(runner.stdout, sys.stdout.buffer, "answered")
        os._exit(runner.wait())


def busy_share(path):
    with open(path) as f:
        times = [float(line.split()[1]) for line in f][2:]
    asked, answered = times[0::2], times[1::2]
    busy = sum(end - begin for begin, end in zip(asked, answered))
    return busy, answered[-1] - asked[0], len(answered)


def caravan(*arguments, **variables):
    ended = subprocess.run(["java", "-jar", JAR, *arguments], env={**os.environ, **variables},
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        sys.exit(f"caravan {' '.join(arguments)} ended with {ended.returncode}:\n{ended.stderr[-4000:]}")


def measure(folder, interpreter, prefetch, asked):
    data, job = os.path.join(folder, "data.jsonl"), os.path.join(folder, f"job-{prefetch}-{time.monotonic_ns()}")
    with open(os.path.join(SAMPLE, "data.jsonl")) as f:
        lines = f.readlines()
    with open(data, "w") as f:
        f.writelines(itertools.islice(itertools.cycle(lines), asked.shards * asked.rows))
    variables = {"BENCH_PYTHON": asked.python, "BENCH_TIMES": job + ".times",
                 "CARAVAN_PYTHON_EXECUTABLE": interpreter, "CARAVAN_NODE_PREFETCH": str(prefetch)}
    caravan("prepare", "--config", os.path.join(SAMPLE, "recipe.yaml"), "--dataset-path", data, "--job-dir", job,
            "--num-shards", str(asked.shards), **variables)
    caravan("worker", "--job-dir", job, **variables)
    return busy_share(job + ".times")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--shards", type=int, default=60)
    parser.add_argument("--rows", type=int, default=2000, help="of a shard")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folder", help="where the job is, such as a mount")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        interpreter = os.path.join(folder, "python")
        with open(interpreter, "w") as f:
            f.write(f'#!/bin/sh\nexec "{sys.executable}" "{os.path.abspath(__file__)}" --as-interpreter "$@"\n')
        os.chmod(interpreter, 0o755)
        print("| node.prefetch | shards after the first | warm runner busy | time | share |\n| --- | --- | --- | --- | --- |")
        for _, prefetch in itertools.product(range(asked.rounds), (0, 1)):
            busy, wall, shards = measure(folder, interpreter, prefetch, asked)
            print(f"| {prefetch} | {shards} | {busy:.2f} s | {wall:.2f} s | {busy / wall:.1%} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-interpreter"]:
        as_interpreter(sys.argv[2:])
    else:
        main()
