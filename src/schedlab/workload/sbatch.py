"""The options of sbatch that request resources: one parser for event files, the laboratory and dumps of Slurm."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from schedlab.durations import parse_time_limit
from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload._gres import SEVERAL_TYPES, notes_on_names, others_in

LONG = {
    "N": "nodes",
    "n": "ntasks",
    "c": "cpus-per-task",
    "t": "time",
    "p": "partition",
    "q": "qos",
    "A": "account",
    "C": "constraint",
    "G": "gpus",
    "J": "job-name",
    "d": "dependency",
    "D": "chdir",
    "o": "output",
    "e": "error",
    "w": "nodelist",
    "x": "exclude",
    "L": "licenses",
    "b": "begin",
    "a": "array",
}
"""Names of the options of one letter that have a value."""

FLAGS = ("exclusive", "requeue", "no-requeue", "hold", "H", "overcommit", "O", "oversubscribe", "s", "contiguous")
"""Options without a value; exclusive may have a value after "="."""

WITHOUT_EFFECT = ("job-name", "chdir", "output", "error", "uid", "gid", "wrap", "mail-type", "mail-user", "comment")
MEBIBYTES = {"K": 1 / 1024, "M": 1, "": 1, "G": 1024, "T": 1024**2, "P": 1024**3}
MOST_ELEMENTS = 1_000_000
"""Elements of a job array; Slurm's usual maximum is 1,000 (MaxArraySize)."""

_ELEMENTS = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGTP]?)i?B?", re.IGNORECASE)
_GPUS = re.compile(
    r"(?:(?:gres[:/])?gpu(?:[:=]|$))?(?P<type>[A-Za-z_][^:=,]*)?(?:(?:^|[:=]|(?<=[:=]))(?P<count>\d{1,9}))?(?:\(.*\))?"
)
GPU_OPTIONS = ("gpus", "gpus-per-node", "gpus-per-task", "gres")


@dataclass(frozen=True, slots=True)
class Request:
    """The request of one job, in the units of `schedlab.workload.resources.Resources`; None and 0: not given.

    Parameters
    ----------
    elements
        How many elements an array has, 0 if the job is none.
    array_limit
        How many of them may run at a time, 0 for any number.
    seconds
        Time limit, -1 without one.
    switches, switch_wait
        How many leaf switches it wants at most, 0 for any number, and for how many seconds it waits for them, 0 if it
        does not say.
    unused
        Options whose values are not kept.
    other_gres
        Names of generic resources that are no GPUs, such as shard and mps, which are not kept either.
    several_gpu_types
        Whether it asks for GPUs of several types, which count as GPUs of any type.
    """

    nodes: int = 0
    tasks: int = 1
    tasks_per_node: int = 0
    cores_per_task: int = 1
    memory_per_node: int = 0
    memory_per_core: int = 0
    gpus: int = 0
    gpus_per_node: int = 0
    gpus_per_task: int = 0
    exclusive: int = 0
    gpu_type: str | None = None
    constraint: str | None = None
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    licenses: str | None = None
    reservation: str | None = None
    exclude: str | None = None
    nodelist: str | None = None
    elements: int = 0
    array_limit: int = 0
    switches: int = 0
    switch_wait: int = 0
    seconds: int = -1
    unused: tuple[str, ...] = ()
    other_gres: tuple[str, ...] = ()
    several_gpu_types: bool = False

    @property
    def processors(self) -> int:
        """Tasks times cores per task."""
        return self.tasks * self.cores_per_task


def requests_of(words: Sequence[str]) -> list[Request]:
    """Return the requests of the components of a heterogeneous job, whose options stand between colons.

    Other jobs have one.

    Examples
    --------
    >>> [request.tasks for request in requests_of(["-n", "4", ":", "-n", "2", "--gpus=1"])]
    [4, 2]
    """
    return [request_of(part) for part in between_colons(words)]


def between_colons(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the options of each component of a heterogeneous job; those of other jobs are one.

    Examples
    --------
    >>> between_colons(["-n", "4", ":", "-N2"])
    [('-n', '4'), ('-N2',)]
    """
    parts: list[list[str]] = [[]]
    for word in words:
        if word == ":":
            parts.append([])
        else:
            parts[-1].append(word)
    return [tuple(part) for part in parts]


def request_of(words: Sequence[str]) -> Request:
    """Return the request in options of sbatch.

    Without a number of tasks there is one on each node, or the number given by `--ntasks-per-node`.

    Raises
    ------
    InputError
        If a value is not valid.

    Examples
    --------
    >>> request = request_of(["-N", "2", "--ntasks-per-node=4", "--mem=4G", "--gres=gpu:a100:2", "-t", "1:00:00"])
    >>> request.processors, request.memory_per_node, request.gpus_per_node, request.gpu_type, request.seconds
    (8, 4096, 2, 'a100', 3600)
    """
    told = dict(options_of(words))
    nodes = _whole("nodes", told.pop("nodes", "0").split("-")[0])
    per_node = _whole("ntasks-per-node", told.pop("ntasks-per-node", "0"))
    tasks = _whole("ntasks", told.pop("ntasks", "0")) or max(nodes, 1) * max(per_node, 1)
    types: list[str | None] = []
    others = sorted(others_in(told.get("gres")))
    gpus = {name: _gpus(name, told.pop(name, None), types) for name in GPU_OPTIONS}
    kinds = {kind for kind in types if kind}
    limit = told.pop("time", None)
    memory, per_core = told.pop("mem", None), told.pop("mem-per-cpu", None)
    elements, array_limit = array_of(told.pop("array", ""))
    switches, switch_wait = switches_of(told.pop("switches", "0"))
    return Request(
        nodes=nodes,
        tasks=max(tasks, nodes),
        tasks_per_node=per_node,
        cores_per_task=max(_whole("cpus-per-task", told.pop("cpus-per-task", "1")), 1),
        memory_per_node=0 if memory is None else mebibytes(memory),
        memory_per_core=0 if per_core is None else mebibytes(per_core),
        gpus=gpus["gpus"],
        gpus_per_node=gpus["gpus-per-node"] or gpus["gres"],
        gpus_per_task=gpus["gpus-per-task"],
        exclusive=int(told.pop("exclusive", None) == ""),
        gpu_type=next(iter(kinds)) if len(kinds) == 1 else None,
        constraint=told.pop("constraint", None),
        partition=told.pop("partition", None),
        account=told.pop("account", None),
        qos=told.pop("qos", None),
        licenses=told.pop("licenses", None),
        reservation=told.pop("reservation", None),
        exclude=told.pop("exclude", None),
        nodelist=told.pop("nodelist", None),
        elements=elements,
        array_limit=array_limit,
        switches=switches,
        switch_wait=switch_wait,
        seconds=-1 if limit is None else parse_time_limit(limit),
        unused=tuple(name for name in told if name not in WITHOUT_EFFECT),
        other_gres=tuple(others),
        several_gpu_types=len(kinds) > 1,
    )


def notes_on_gres(requests: Iterable[Request]) -> list[str]:
    """Return notes about what the requests of jobs leave out of their GPUs and other generic resources, with counts.

    Examples
    --------
    >>> notes_on_gres([request_of(["--gres=gpu:a100:1,gpu:v100:2,nic:1"]), Request()])
    ['GPUs of several types, counted as GPUs of any type: 1', 'generic resources that are not read, and jobs with \
them: nic 1']
    """
    asked = list(requests)
    several = sum(request.several_gpu_types for request in asked)
    told = [f"{SEVERAL_TYPES}: {several:,}"] if several else []
    return [*told, *notes_on_names(request.other_gres for request in asked)]


def switches_of(text: str) -> tuple[int, int]:
    """Return how many leaf switches a job wants at most, and for how many seconds it waits for them, 0 if not said.

    Raises
    ------
    InputError
        If the text is not a whole number, perhaps with a time.

    Examples
    --------
    >>> switches_of("1@00:10:00"), switches_of("2")
    ((1, 600), (2, 0))
    """
    count, at, time = text.partition("@")
    return _whole("switches", count), parse_time_limit(time) if at else 0


def array_of(text: str) -> tuple[int, int]:
    """Return how many elements an array has, and how many of them may run at a time, 0 for any number.

    Raises
    ------
    InputError
        If the text is not valid, or names more than `MOST_ELEMENTS`.

    Examples
    --------
    >>> array_of("0-9%2"), array_of("1-7:2,9"), array_of("")
    ((10, 2), (5, 0), (0, 0))
    """
    parts, percent, limit = text.partition("%")
    found = [_ELEMENTS.fullmatch(part) for part in parts.split(",")] if text else []
    if (percent and not (limit.isdecimal() and 0 < int(limit[:10]) < 10**9)) or None in found:
        raise InputError(f"--array is {shown(text)}, not indexes such as 0-9%2 or 1-7:2,9")
    spans = [(int(one[1]), int(one[2] or one[1]), int(one[3] or 1)) for one in found if one is not None]
    elements = sum((last - first) // max(step, 1) + 1 for first, last, step in spans)
    if any(last < first or step < 1 for first, last, step in spans) or elements > MOST_ELEMENTS:
        raise InputError(f"--array is {shown(text)}: give rising indexes, at most {MOST_ELEMENTS:,}")
    return elements, int(limit or 0)


def options_of(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options among words as pairs of long name and value; a script and its arguments are not options.

    Examples
    --------
    >>> list(options_of(["-n4", "--mem", "2G", "-C", "ib", "--exclusive", "-t=5", "job.sh"]))
    [('ntasks', '4'), ('mem', '2G'), ('constraint', 'ib'), ('exclusive', ''), ('time', '5')]
    """
    rest = iter(words)
    for word in rest:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if not equals and name not in FLAGS:
                value = _value(rest, word)
        elif word.startswith("-") and len(word) > 1:
            name, value = LONG.get(word[1], word[1]), word[2:].removeprefix("=")
            if not value and word[1] not in FLAGS:
                value = _value(rest, word)
        else:
            continue
        yield name, value


def _value(rest: Iterator[str], option: str) -> str:
    value = next(rest, None)
    if value is None:
        raise InputError(f"the option {option} of sbatch needs a value")
    return value


def _whole(option: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 15:
        raise InputError(f"--{option} is {shown(text)}, not a whole number")
    return int(text)


def _gpus(option: str, text: str | None, types: list[str | None]) -> int:
    """Return the number of GPUs of a request such as gpu:a100:2 or 4, and append its type; for a list of generic
    resources, count only GPUs."""
    total = 0
    for part in [] if text is None else text.split(","):
        is_gpu = re.match(r"(?:gres[:/])?gpu\b", part) is not None
        if option == "gres" and not is_gpu:
            continue
        found = _GPUS.fullmatch(part)
        if found is None:
            raise InputError(f"--{option} is {shown(text)}, not a number of GPUs such as 2 or a100:2")
        types.append(found["type"])
        total += int(found["count"] or 1)
    return total


def mebibytes(text: str) -> int:
    """Return an amount of memory as Slurm writes it (or `64 GiB`) in MiB, rounded up; without a unit it is in MiB.

    Examples
    --------
    >>> [mebibytes(text) for text in ("500", "4G", "512K", "1.5T", "64 GiB")]
    [500, 4096, 1, 1572864, 65536]
    """
    found = _MEMORY.fullmatch(text.strip())
    amount = math.inf if found is None else float(found[1]) * MEBIBYTES[found[2].upper()]
    if amount >= 2**53:
        raise InputError(f"{shown(text)} is not an amount of memory such as 4G or 500")
    return math.ceil(amount)
