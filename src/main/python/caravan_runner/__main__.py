"""Command line: python -m caravan_runner info | recipe RECIPE.yaml | script ENGINE FILE.py | plan REQUEST.json |
collect REQUEST.json | shard REQUEST.json | serve

`info`, `recipe`, `script`, `plan` and `collect` answer with one JSON object on stdout; whatever else is printed goes to stderr.
Exit status: 0 done; these 2 when the answer says what is wrong; `shard` 1 when the data or
the recipe is at fault, 3 when the machine is, 64 when the
request cannot be used, 143 when it was told to stop. `serve` works through many requests: see serve.py.
"""

import json
import os
import sys
import traceback

USAGE = ("usage: python -m caravan_runner info | recipe RECIPE.yaml | script ENGINE FILE.py | plan REQUEST.json"
         " | collect REQUEST.json | shard REQUEST.json | serve")


def _claim_stdout():
    """Keeps stdout for the answer alone: file descriptor 1 becomes stderr, also for libraries and children."""
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _answer(answers, value):
    answers.write(json.dumps(value, ensure_ascii=False, sort_keys=True) + "\n")
    answers.close()


def _plan(path, answers):
    from caravan_runner import outcome, planning, shard

    shard.watch_parent()
    with open(path, encoding="utf-8") as f:
        request = json.load(f)
    if request["engine"] == "mini-batch":
        return _units(request, answers)
    try:
        _answer(answers, planning.plan(request))
        return 0
    except (Exception, SystemExit) as e:
        traceback.print_exc()
        _answer(answers, {"error": f"plan() of {request['execution']['script']['path']} failed: {_where(e, request['script'])}"
                                   f"{outcome.describe(e)}"})
        return 2


def _units(request, answers):
    from caravan_runner.mini_batch import units

    try:
        _answer(answers, units.plan(request))
        return 0
    except units.BadInputs as e:
        _answer(answers, {"error": str(e)})
        return 2


def _where(error, script):
    """The script's own line in which it happened."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == script]
    return f"line {lines[-1]}: " if lines else ""


def main(argv):
    if argv == ["info"]:
        from caravan_runner import info

        answers = _claim_stdout()
        try:
            _answer(answers, info.collect())
        except info.MissingPackage as missing:
            _answer(answers, {"error": str(missing)})
            return 2
        return 0
    if len(argv) == 2 and argv[0] == "recipe":
        from caravan_runner import info, recipe

        answers = _claim_stdout()
        try:
            report = recipe.check(argv[1])
        except info.MissingPackage as missing:
            _answer(answers, {"error": str(missing)})
            return 2
        _answer(answers, report)
        return 0 if report["ok"] else 2
    if len(argv) == 3 and argv[0] == "script":
        from caravan_runner import script

        answers = _claim_stdout()
        try:
            script.check(argv[1], argv[2])
        except script.BadScript as bad:
            _answer(answers, {"error": str(bad)})
            return 2
        _answer(answers, {"ok": True})
        return 0
    if len(argv) == 2 and argv[0] == "plan":
        return _plan(argv[1], _claim_stdout())
    if len(argv) == 2 and argv[0] == "collect":
        from caravan_runner import collect

        answers = _claim_stdout()
        with open(argv[1], encoding="utf-8") as f:
            _answer(answers, collect.collect(json.load(f)))
        return 0
    if len(argv) == 2 and argv[0] == "shard":
        from caravan_runner import shard

        return shard.run(argv[1])
    if argv == ["serve"]:
        from caravan_runner import serve

        status = serve.run(_claim_stdout())
        sys.stderr.flush()
        os._exit(status)  # a thread still waits for stdin
    print(USAGE, file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
