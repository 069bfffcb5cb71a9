"""A recipe as text: where each thing stands, and all that can be judged without importing Data-Juicer."""

import os

# Top-level keys that would go round the shard, or write where other shards write too.
REFUSED_KEYS = {
    "stats_export_path": "all shards would write the same statistics file; remove it",
    "generated_dataset_config": "it takes the place of the shard's own input; remove it",
    "encrypt_before_export": "the shard's output could not be read back and merged; set it to false",
    "decrypt_after_reading": "shards are cut from plain JSONL and are never encrypted; set it to false",
    "resume": "a shard is processed from its beginning at each attempt; remove it",
    "auto": "it adds operators of its own; list the operators in process instead",
}
OVERRIDDEN = {
    "dataset_path": "each shard brings its own input",
    "export_path": "each attempt writes to its own folder",
    "export_type": "shards are written as JSONL",
    "executor_type": "shards are processed with the ray executor",
    "ray_address": "ray.address of the job decides",
    "dataset": "each shard brings its own input",
    "work_dir": "each attempt has its own folder",
    "job_id": "each attempt has its own",
    "event_log_dir": "each attempt has its own folder",
    "checkpoint_dir": "each attempt has its own folder",
    "partition_dir": "each attempt has its own folder",
}
FITTING_VALUES = {"executor_type": ("ray",), "export_type": ("jsonl",)}  # overridden with what is there already


class RecipeFile:
    """Parsed YAML with line numbers. `problems` and `warnings` hold {"where", "message"} and text lines."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)
        self.folder = os.path.dirname(os.path.abspath(path))
        self.problems, self.warnings = [], []
        self.root, self.data = None, {}
        self.entries = []  # (index, operator name, arguments, YAML node of the arguments)
        self._read()

    def problem(self, node, place, message):
        line = f":{node.start_mark.line + 1}" if node is not None else ""
        self.problems.append({"where": f"{self.name}{line}: {place}" if place else f"{self.name}{line}", "message": message})

    def warn(self, node, place, message):
        self.warnings.append(f"{self.name}:{node.start_mark.line + 1}: {place}: {message}")

    def _read(self):
        import yaml

        try:
            with open(self.path, encoding="utf-8") as f:
                text = f.read()
        except (OSError, UnicodeDecodeError) as e:
            self.problem(None, "", f"cannot be read: {getattr(e, 'strerror', None) or e}")
            return
        try:
            self.root = yaml.compose(text, Loader=yaml.SafeLoader)
            self.data = yaml.safe_load(text)
        except yaml.YAMLError as e:
            mark = getattr(e, "problem_mark", None)
            where = f"{self.name}:{mark.line + 1}" if mark else self.name
            self.problems.append({"where": where, "message": f"not YAML: {getattr(e, 'problem', None) or e}"})
            self.root, self.data = None, {}
            return
        if not isinstance(self.data, dict):
            self.problem(self.root, "", "expected keys and values (process: ...), found something else")
            self.root, self.data = None, {}
            return
        self._duplicates(self.root, "")
        self._top_level()
        self._process()

    def _duplicates(self, node, path):
        import yaml

        if isinstance(node, yaml.MappingNode):
            seen = set()
            for key, value in node.value:
                name = str(key.value)
                if name in seen and name != "<<":
                    self.problem(key, f"{path}{name}", "stands here twice; the first one would be ignored")
                seen.add(name)
                self._duplicates(value, f"{path}{name}.")
        elif isinstance(node, yaml.SequenceNode):
            for i, value in enumerate(node.value):
                self._duplicates(value, f"{path.rstrip('.')}[{i}].")

    def _top_level(self):
        for key, _ in self.root.value:
            value = self.data.get(key.value)
            if key.value in REFUSED_KEYS and value:
                self.problem(key, key.value, REFUSED_KEYS[key.value])
            elif key.value in OVERRIDDEN and value is not None and value not in FITTING_VALUES.get(key.value, ()):
                self.warn(key, key.value, f"{value!r} has no effect: {OVERRIDDEN[key.value]}")

    def child(self, node, key):
        return next((v for k, v in node.value if k.value == key), None) if hasattr(node, "value") else None

    def key_node(self, node, key):
        return next((k for k, _ in node.value if k.value == key), node)

    def _process(self):
        import yaml

        node = self.child(self.root, "process")
        if node is None:
            self.problem(self.root, "process", "is missing: list the operators to run, e.g. - text_length_filter: {min_len: 10}")
            return
        process = self.data.get("process")
        if not isinstance(process, list):
            self.problem(node, "process", f"expected a list of operators, found {type(process).__name__}")
            return
        if not process:
            self.problem(node, "process", "is empty: list at least one operator")
            return
        for i, (entry, entry_node) in enumerate(zip(process, node.value)):
            if not isinstance(entry, dict) or len(entry) != 1 or not isinstance(next(iter(entry)), str):
                self.problem(entry_node, f"process[{i}]", "expected one operator with its arguments "
                             f"(- operator_name: {{...}}), found {self._shape(entry)}")
                continue
            name, args = next(iter(entry.items()))
            if args is not None and not isinstance(args, dict):
                self.problem(entry_node, f"process[{i}].{name}", "expected arguments as keys and values, "
                             f"found {self._shape(args)}")
                continue
            args_node = entry_node.value[0][1]
            self.entries.append((i, name, args or {}, args_node if isinstance(args_node, yaml.MappingNode) else entry_node))
            self._arguments(i, name, args or {}, self.entries[-1][3])

    @staticmethod
    def _shape(value):
        if isinstance(value, dict):
            return f"{len(value)} keys ({', '.join(map(str, value))})" if value else "nothing"
        return "nothing" if value is None else repr(value)[:80]

    def _arguments(self, i, name, args, node):
        place = f"process[{i}].{name}"
        if args.get("stats_export_path"):
            self.problem(self.key_node(node, "stats_export_path"), place,
                         "stats_export_path: all shards would write the same statistics file; remove it")
        if args.get("save_dir"):
            self.warn(self.key_node(node, "save_dir"), place,
                      f"save_dir {args['save_dir']!r}: all shards write to this folder; "
                      "their file names must not collide, and failed attempts leave files there")
