"""Searches the learning rate with which a small regression learns best. Runs as it is, too: python search.py --rates 3"""

import argparse
import random


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rates", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=2000)
    return parser.parse_args()


def plan():
    """What is to be computed: each item is a dict with an id of its own."""
    args = arguments()
    for rate in range(1, args.rates + 1):
        for seed in range(args.seeds):
            yield {"id": f"rate-{rate}-seed-{seed}", "rate": rate / 100, "seed": seed, "steps": args.steps}


def execute(item):
    """Computes one item. `metrics` are summed up in summary.json."""
    source = random.Random(item["seed"])
    points = [(x, 3 * x + 1 + source.gauss(0, 0.1)) for x in (source.random() for _ in range(100))]
    slope, offset = 0.0, 0.0
    for _ in range(item["steps"]):
        x, y = source.choice(points)
        wrong = slope * x + offset - y
        slope -= item["rate"] * wrong * x
        offset -= item["rate"] * wrong
    loss = sum((slope * x + offset - y) ** 2 for x, y in points) / len(points)
    return {"rate": item["rate"], "slope": round(slope, 6), "metrics": {"loss": round(loss, 9)}}


if __name__ == "__main__":
    for item in plan():
        print(item["id"], execute(item))
