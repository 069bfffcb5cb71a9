"""Custom operators for the tests: they record where they ran, or make the later block end first."""

import os
import time

from data_juicer.ops.base_op import OPERATORS, Mapper


@OPERATORS.register_module("gpu_probe_mapper")
class GpuProbeMapper(Mapper):
    """Writes down which GPUs Ray gave to the task that the row was processed in.

    With a folder: waits until as many tasks as `together` are at work at the same time, and fails if a GPU has two.
    """

    _batched_op = True

    def __init__(self, folder=None, together=0, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.folder, self.together = folder, together

    def process_batched(self, samples):
        import ray

        ids = ",".join(map(str, ray.get_gpu_ids()))
        if self.folder:
            self._meet(os.path.join(self.folder, f"gpu-{ids}"))
        count = len(samples[self.text_key])
        samples["gpu_ids"] = [ids] * count
        samples["visible"] = [os.environ.get("CUDA_VISIBLE_DEVICES", "unset")] * count
        return samples

    def _meet(self, mine):
        open(mine, "x").close()
        met, deadline = os.path.join(self.folder, "met"), time.monotonic() + 300
        while not os.path.exists(met):
            if sum(name.startswith("gpu-") for name in os.listdir(self.folder)) >= self.together:
                open(met, "w").close()
            elif time.monotonic() > deadline:
                raise TimeoutError(f"{self.together} tasks were never at work at the same time")
            else:
                time.sleep(0.02)
        os.unlink(mine)


@OPERATORS.register_module("last_block_first_mapper")
class LastBlockFirstMapper(Mapper):
    """The block with the first row ends only after the one with the last row has: rows race, in the wrong order."""

    _batched_op = True

    def __init__(self, folder, last, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.done, self.last = os.path.join(folder, "last-block-done"), last
        self.waits = os.path.join(folder, "first-block-waits")

    def process_batched(self, samples):
        if self.last in samples["id"]:
            open(self.done, "x").close()
        elif 0 in samples["id"]:
            open(self.waits, "w").close()
            deadline = time.monotonic() + 90
            while not os.path.exists(self.done):
                if time.monotonic() > deadline:
                    raise TimeoutError("the block with the last row was never processed beside this one")
                time.sleep(0.02)
        samples["pid"] = [os.getpid()] * len(samples["id"])
        return samples


@OPERATORS.register_module("stumbling_mapper")
class StumblingMapper(Mapper):
    """Fails when it meets one record for the first time in any process, and hangs when it meets another one so."""

    _batched_op = True

    def __init__(self, folder, fails_on, hangs_on, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.folder, self.fails_on, self.hangs_on = folder, fails_on, hangs_on

    def process_batched(self, samples):
        if self.fails_on in samples["id"] and self._first("failed"):
            raise ValueError("stumbled")
        if self.hangs_on in samples["id"] and self._first("hung"):
            time.sleep(1000)
        samples[self.text_key] = [text.upper() for text in samples[self.text_key]]
        return samples

    def _first(self, what):
        try:
            open(os.path.join(self.folder, what), "x").close()
            return True
        except FileExistsError:
            return False


@OPERATORS.register_module("failing_mapper")
class FailingMapper(Mapper):
    """Fails as an operator of the user would, or takes its whole process down with it."""

    def __init__(self, how="raise", only=None, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.how, self.only = how, only

    def process_single(self, sample):
        if self.only is not None and sample["id"] not in self.only:
            return sample
        if self.how == "raise":
            raise ValueError(f"row {sample['id']} is not to my taste")
        if self.how == "disk":
            raise OSError(28, "No space left on device")
        if self.how == "install":
            from data_juicer.utils.lazy_loader import LazyLoader

            return LazyLoader("no_such_package_of_caravan").anything
        os._exit(9)


@OPERATORS.register_module("noting_mapper")
class NotingMapper(Mapper):
    """Writes down the id of each record that it is called with."""

    _batched_op = True

    def __init__(self, folder, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.path = os.path.join(folder, "noted")

    def process_batched(self, samples):
        with open(self.path, "ab", buffering=0) as f:
            f.write("".join(f"{i}\n" for i in samples["id"]).encode())
        return samples
