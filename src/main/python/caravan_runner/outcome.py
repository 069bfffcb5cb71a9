"""How an attempt ended, in one file written at once: whose fault a failure is decides whether it is tried again."""

import errno
import hashlib
import json
import os
import re

INFRA_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ESTALE, errno.EIO}
# Ray's own words for a lost worker, node or object, and for a store or a machine that is full.
INFRA_CLASSES = {
    "RayStartError", "NotEnoughResources", "WorkersQuarantined", "InputMissing", "Terminated", "MissingPackage", "OtherRecipe",
    "WorkerCrashedError", "NodeDiedError", "LocalRayletDiedError", "RaySystemError", "RpcError",
    "ObjectLostError", "ObjectFetchTimedOutError", "ObjectReconstructionFailedError", "OwnerDiedError",
    "ObjectReconstructionFailedMaxAttemptsExceededError", "ObjectReconstructionFailedLineageEvictedError",
    "ReferenceCountingAssertionError", "ObjectRefStreamEndOfStreamError", "ActorUnavailableError",
    "OutOfMemoryError", "OutOfDiskError", "ObjectStoreFullError", "RuntimeEnvSetupError", "GetTimeoutError",
    "TaskUnschedulableError", "ActorUnschedulableError", "MemoryError", "AuthenticationError",
}
ADVICE = [
    ({"OutOfMemoryError", "MemoryError"}, "give the shard more memory, or make it smaller (more shards, a smaller batch_size)"),
    ({"OutOfDiskError"}, "free disk space where the shard is processed and where Ray spills (/tmp)"),
    ({"ObjectStoreFullError"}, "raise ray.object_store_memory or make the shards smaller"),
    ({"WorkerCrashedError", "ActorDiedError", "NodeDiedError"},
     "a worker process ended by itself: look for the kernel's out-of-memory killer and for crashes in process.log"),
    ({"RuntimeEnvSetupError"}, "an operator asks for a runtime_env that could not be built here; see process.log"),
    ({"PipelineConfigError"}, "correct the recipe; `caravan recipe check` shows every problem at once"),
]
_RAY_WRAPPER = re.compile(r"^RayTaskError(\((?P<inner>\w+)\))?$")
_CANNOT_LOAD = re.compile("No module named|cannot import name|unpickle|deserializ")
_FRAME = re.compile(r'File "(?:[^"]*/)?([^"/]+)", line (\d+), in (\w+)')
_CAUSED = "The above exception was the direct cause of the following exception"
WRAPPERS = {"UserCodeException", "SystemException", "RayTaskError"}


class Terminated(KeyboardInterrupt):
    """The process was told to stop (SIGTERM), or its parent is gone.

    Not an Exception: no operator may swallow it. Ray's own waits let only KeyboardInterrupt and SystemExit through; any
    other exception of a signal handler is lost in them.
    """


class InputMissing(Exception):
    """The shard's input file cannot be read on this node."""


class NotEnoughResources(Exception):
    """The recipe asks Ray for more than this node has: Ray would wait for ever."""

    advice = "run the job on nodes that have it, raise ray.num_gpus or ray.num_cpus of the job, or lower the operator's"


def chain(error):
    """The error and all that caused it, outermost first. Ray hides the operator's own error in `cause`."""
    seen, todo = [], [error]
    while todo:
        e = todo.pop(0)
        if e is None or any(e is s for s in seen):
            continue
        seen.append(e)
        cause = getattr(e, "cause", None)
        todo += [cause if isinstance(cause, BaseException) else None, e.__cause__]
        if not e.__suppress_context__:
            todo.append(e.__context__)
    return seen


def _class_name(error):
    name = type(error).__name__
    wrapped = _RAY_WRAPPER.match(name)
    return (wrapped.group("inner") or name) if wrapped else name


def _disk_full(error):
    if isinstance(error, OSError) and error.errno in INFRA_ERRNOS:
        return True
    # pyarrow and Ray pass the system's words on without the number
    return "No space left on device" in str(error) or "Disk quota exceeded" in str(error)


def is_infra(error):
    """True when another node, or a later attempt on this one, may do better with the same data and recipe.

    An actor that died is judged by why: if its constructor raised, that is the operator's fault. Ray also
    says RaySystemError when a worker cannot import what an operator needs: no other worker can either.
    """
    for e in chain(error):
        name = _class_name(e)
        if name == "RaySystemError" and _CANNOT_LOAD.search(str(e)):
            continue
        if name in INFRA_CLASSES or _disk_full(e):
            return True
        if name in ("ActorDiedError", "RayActorError") and not getattr(e, "actor_init_failed", False):
            return True
    return False


def describe(error):
    """One line for the operator's own error rather than for Ray's wrapping of it."""
    for e in chain(error):
        inner = getattr(e, "cause", None)
        if isinstance(inner, BaseException) and _class_name(inner) not in WRAPPERS:
            e = inner
        name, text = _class_name(e), str(e).strip()
        if 'File "' in text:  # a remote traceback: the first one in it is the one that started it all
            return _last_error_of(text.split(_CAUSED)[0]) or f"{name}: {text}"[:2000]
        if name not in WRAPPERS:
            return f"{name}: {text}"[:2000] if text else name
    return f"{_class_name(error)}: {error}"[:2000]


def _last_error_of(traceback_text):
    lines = traceback_text.rstrip().splitlines()
    frame = max((i for i, line in enumerate(lines) if line.startswith('  File "')), default=None)
    if frame is None:
        return None
    start = next((i for i in range(frame + 1, len(lines)) if lines[i] and not lines[i].startswith(" ")), None)
    return "\n".join(lines[start:])[:2000] if start is not None else None


def advice(error):
    for e in chain(error):
        own = getattr(e, "advice", None)
        if isinstance(own, str):
            return own
        if _disk_full(e):
            return "free disk space (or raise the quota) where the shard is processed and where Ray spills (/tmp)"
        if getattr(e, "actor_init_failed", False):  # the worker ended, but by an error of its own
            continue
        for names, words in ADVICE:
            if _class_name(e) in names:
                return words
    return None


def operator_of(error, sources):
    """The operator whose code is deepest in the error's traceback.

    sources: (file name or the end of one, first line, last line, operator name); one file may hold several.
    """
    found = None
    for match in re.finditer(r'File "(?P<file>[^"]+)", line (?P<line>\d+)', _all_tracebacks(error)):
        here = [s for s in sources if match.group("file").endswith(s[0])]
        inside = [s for s in here if s[1] <= int(match.group("line")) <= s[2]]
        names = {s[3] for s in inside or here}
        if len(names) == 1:
            found = names.pop()
    return found


def failure(error, sources=()):
    infra = is_infra(error)
    return {
        "ok": False,
        "failure_class": "infra" if infra else "data",
        **culprit(error, sources),
        "advice": advice(error),
        **_isolation(error),
    }


def _isolation(error):
    """Whether records that fail were looked for one by one, and whether there are more than are allowed."""
    names = {type(e).__name__ for e in chain(error)}
    said = {"isolated": "Inseparable" in names, "too_many_failed": "TooManyFailed" in names}
    return {key: True for key, value in said.items() if value}


def culprit(error, sources):
    """What failed: the operator, the error, and a hash that is the same for the same fault at the same place."""
    text = describe(error)
    name = re.match(r"[A-Za-z_][\w.]*(?=:|$)", text)
    frames = _FRAME.findall(_all_tracebacks(error))
    return {
        "operator": operator_of(error, sources),
        "error": text,
        "error_class": name.group() if name else type(error).__name__,
        "stack_sha256": hashlib.sha256("\n".join(" ".join(frame) for frame in frames).encode()).hexdigest(),
    }


def _all_tracebacks(error):
    import traceback

    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return text + "".join(str(e) for e in chain(error))


def write(attempt_dir, value):
    """Whole or not at all: a reader never sees half an outcome."""
    path = os.path.join(attempt_dir, "outcome.json")
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8") as f:
        f.write(json.dumps(value, ensure_ascii=False) + "\n")
        f.flush()
        os.fsync(f.fileno())
    os.replace(part, path)
