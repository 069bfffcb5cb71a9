"""An operator of your own whose calls are dear, such as one that asks a model."""

import time

from data_juicer.ops.base_op import OPERATORS, Mapper


@OPERATORS.register_module("costly_mapper")
class CostlyMapper(Mapper):
    """Takes its time for each record and counts its words.

    With a journal it leaves a line in that file for each record: what it does outside may happen twice for a record that
    was not committed, so it must do no harm when it is done again.
    """

    def __init__(self, seconds=0.05, journal=None, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seconds, self.journal = seconds, journal

    def process_single(self, sample):
        time.sleep(self.seconds)
        if self.journal:
            with open(self.journal, "ab", buffering=0) as f:
                f.write(f"{sample['id']}\n".encode())
        sample["words"] = len(sample["text"].split())
        return sample
