"""What an entry script of engine mini-batch may ask for: from caravan_runner.entry import EntryScript"""

import logging
import os


class EntryScript:
    """The same object in init(), run() and shutdown(). Outside of a job it stands for a process that is alone."""

    _only = None

    def __new__(cls):
        if cls._only is None:
            cls._only = super().__new__(cls)
            cls._only._settle(os.path.join("logs", "user", "entry_script_log", "local"), ".", "process000", logging.INFO)
        return cls._only

    def _settle(self, log_dir, output_dir, agent_name, level):
        self._log_dir, self._output_dir, self._agent_name, self._level = log_dir, output_dir, agent_name, level
        self._logger = None

    @property
    def logger(self):
        """Writes to log_dir, to the file of this process."""
        if self._logger is None:
            os.makedirs(self._log_dir, exist_ok=True)
            handler = logging.FileHandler(os.path.join(self._log_dir, f"{self._agent_name}.log.txt"), encoding="utf-8")
            handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
            self._logger = logging.getLogger("caravan.entry_script")
            self._logger.handlers = [handler]
            self._logger.setLevel(self._level)
            self._logger.propagate = False
        return self._logger

    @property
    def log_dir(self):
        """A folder that the processes of this node share; put agent_name into the names of your files."""
        return self._log_dir

    @property
    def output_dir(self):
        """A folder that all processes of the job share."""
        return self._output_dir

    @property
    def agent_name(self):
        """processNNN, of this node."""
        return self._agent_name
