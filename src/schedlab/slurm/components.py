"""Heterogeneous jobs in a laboratory: one submission for all components, of which only the first is launched.

Slurm numbers the components of a job one after the other. It tells the nodes of the first one to start the batch
script, and nobody else: what the others hold is asked for when the script starts. All end with the script.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from schedlab.cluster.hostlist import host_list, host_names

if TYPE_CHECKING:
    from schedlab.slurm.job_table import Run
    from schedlab.slurm.jobs import BatchJob

_HELD = re.compile(r"Nodes=(\S+) CPU_IDs=(\S+) Mem=\d+ GRES=(\S*)")
_GPUS = re.compile(r"gpu(?::[^:(,]+)?:(\d+)")


def components_of(jobs: Sequence[BatchJob]) -> dict[int, list[int]]:
    """Return the rows of the components of each submission, by the row of the first.

    Examples
    --------
    >>> from schedlab.slurm.jobs import BatchJob
    >>> components_of([BatchJob(0, 9, ()), BatchJob(5, 9, ()), BatchJob(5, 9, (), joins=1)])
    {0: [0], 1: [1, 2]}
    """
    found: dict[int, list[int]] = {}
    for row, job in enumerate(jobs):
        found.setdefault(row if job.joins is None else job.joins, []).append(row)
    return found


def command_line(components: Iterable[Sequence[str]]) -> list[str]:
    """Return the words of a submission: the options of its components, with colons in between."""
    words: list[str] = []
    for options in components:
        words += [*([":"] if words else []), *options]
    return words


def number_of(text: str) -> int:
    """Return the number of a job as squeue writes it.

    Examples
    --------
    >>> number_of("17"), number_of("17+2")
    (17, 19)
    """
    first, _, offset = text.partition("+")
    return int(first) + int(offset or 0)


def with_numbers(word: str, numbers: Mapping[int, int]) -> str | None:
    """Return an option with the numbers that Slurm gave to jobs, by their rows; None if one of them was rejected.

    Examples
    --------
    >>> with_numbers("afterok:%job(0,2)", {0: 7, 2: 9}), with_numbers("%after(1)", {0: 7})
    ('afterok:7:9', None)
    """
    matched = re.search(r"%(after|job)\(([\d,]*)\)", word)
    if matched is None:
        return word
    rows = [int(row) for row in matched[2].split(",") if row]
    if any(row not in numbers for row in rows):
        return None
    return word.replace(matched[0], ":".join(str(numbers[row]) for row in rows))


def left_over(listed: str, name: str, known: Container[int]) -> list[int]:
    """Return the jobs of a name that `squeue -o "%A %j"` lists, and that are not known.

    Examples
    --------
    >>> left_over("2 j0\\n3 j0\\n7 j4\\n", "j0", {3})
    [2]
    """
    rows = [line.split() for line in listed.splitlines()]
    return sorted(int(number) for number, whose in rows if whose == name and int(number) not in known)


def note_held(run: Run, detail: str) -> None:
    """Note the nodes of a run, and what it holds there, from `scontrol show job --detail`.

    Examples
    --------
    >>> from schedlab.slurm.job_table import Run
    >>> run = Run(5, "", 0)
    >>> note_held(run, "  Nodes=n[1-2] CPU_IDs=0-1,4 Mem=0 GRES=gpu:a100:2(IDX:0-1)")
    >>> run.nodes, run.cores, run.gpus
    ('n[1-2]', (3, 3), (2, 2))
    """
    nodes: list[str] = []
    cores: list[int] = []
    gpus: list[int] = []
    for names, ids, gres in _HELD.findall(detail):
        mine = host_names(names)
        nodes += mine
        cores += [sum(_length(part) for part in ids.split(","))] * len(mine)
        gpus += [sum(map(int, _GPUS.findall(gres)))] * len(mine)
    run.nodes, run.cores, run.gpus = host_list(nodes), tuple(cores), tuple(gpus) if any(gpus) else ()


def _length(part: str) -> int:
    first, _, last = part.partition("-")
    return int(last or first) - int(first) + 1
