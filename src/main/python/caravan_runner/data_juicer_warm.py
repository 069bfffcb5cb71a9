"""Data-Juicer in a process that stays: warm where the recipe can be run so, else a process for each shard."""

import json
import os
import signal
import subprocess
import sys

from caravan_runner import chain, outcome, warm
from caravan_runner.engines import EndedWith
from caravan_runner.ray_folder import log


class WarmOrCold:
    """A recipe that cannot be run warm is run by `shard`, each time; the log and outcome.json ("fallback") say why."""

    def __init__(self, on_stop):
        self.on_stop = on_stop
        self.engine = None
        self.fallback = None

    @property
    def sources(self):
        return self.engine.sources if self.engine else []

    def process(self, request):
        if self.fallback is None:
            try:
                if self.engine is None:
                    self.engine = warm.WarmEngine(self.on_stop)
                return self.engine.process(request)
            except warm.NeedsColdEngine as e:
                if request.get("checkpoint"):
                    raise
                self.fallback = str(e)
            except Exception as e:
                why = next((c for c in outcome.chain(e) if isinstance(c, chain.CannotFollow)), None)
                if why is None or request.get("checkpoint"):
                    raise
                self.fallback = str(why)
            self.close()
            signal.signal(signal.SIGTERM, self.on_stop)  # Ray has put the system's own back
        log(f"the recipe cannot be run warm ({self.fallback}): each shard gets a Ray of its own")
        return self._cold(request)

    def _cold(self, request):
        asked = os.path.join(request["attempt_dir"], "cold-request.json")
        output = os.path.join(request["attempt_dir"], "ray-output.jsonl")
        if os.path.isfile(output):
            os.remove(output)
        with open(asked, "w", encoding="utf-8") as f:
            json.dump({**request, "ray": {**request["ray"], "address": "local"}}, f)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
        child = subprocess.Popen([sys.executable, "-u", "-m", "caravan_runner", "shard", asked],
                                 stdin=subprocess.DEVNULL, env=environment)
        try:
            status = child.wait()
        except BaseException:
            child.terminate()
            child.wait()
            raise
        path = os.path.join(request["attempt_dir"], "outcome.json")
        try:
            with open(path, encoding="utf-8") as f:
                result = {**json.load(f), "fallback": self.fallback}
        except FileNotFoundError:
            result = outcome.failure(RuntimeError(f"the cold engine ended with {status} and said nothing"))
            result["fallback"] = self.fallback
        if status != 0:
            raise EndedWith(128 - status if status < 0 else status, result)
        return result

    def close(self):
        if self.engine is not None:
            ended, self.engine = self.engine, None
            ended.close()
