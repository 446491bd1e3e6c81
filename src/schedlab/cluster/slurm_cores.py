"""What of a node jobs can have, as slurmctld derives it from its line: processors, and memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from schedlab.cluster.hostlist import host_names
from schedlab.errors import InputError
from schedlab.wording import shown

Resets = list[tuple[str, str]]
"""Options whose values slurmctld does not take as they are, as they are written, and why."""


class Processors(NamedTuple):
    """Processors of a node.

    Parameters
    ----------
    sockets
        Of the node.
    cpus
        As Slurm counts them, those kept for the system among them.
    threads
        How many of these share a core.
    reserved
        How many are kept for the system (`CoreSpecCount`, `CPUSpecList`).
    """

    sockets: int
    cpus: int
    threads: int
    reserved: int


def processors_of(given: Mapping[str, str], resets: Resets, *, linear: bool = False) -> Processors:
    """Return the processors of a node, as slurmctld 22.05 derives them; what it resets is added to `resets`.

    With CPUs equal to the number of cores, threads are not scheduled. CPUs that fit neither cores nor threads are
    reset to all threads.

    Parameters
    ----------
    given
        Options of its line, keys in lower case.
    resets
        Is extended.
    linear
        Whether the site has select/linear, under which CPUs may also be the number of sockets.

    Raises
    ------
    InputError
        If a value is not a number, or slurmctld would refuse the line.

    Examples
    --------
    >>> line = {"sockets": "2", "corespersocket": "64", "threadspercore": "2", "cpuspeclist": "0"}
    >>> processors_of(line, [])
    Processors(sockets=2, cpus=256, threads=2, reserved=2)
    """
    boards, threads = whole(given, "boards", 1), whole(given, "threadspercore", 1)
    per_socket = whole(given, "corespersocket", 1)
    cpus = whole(given, "cpus", whole(given, "procs", 0))
    if "socketsperboard" in given:
        sockets = boards * whole(given, "socketsperboard", 1)
    else:
        # A line with CPUs alone has as many sockets as these make.
        inferred = max(cpus // max(per_socket * threads, 1), 1) if cpus else 1
        sockets = whole(given, "sockets", inferred)
    cores = sockets * per_socket
    if cpus == sockets != cores and not linear:
        raise InputError(
            f"CPUs={cpus} contradicts {sockets} sockets of {per_socket} cores: CPUs must be {cores}, or "
            f"{cores * threads} with all threads"
        )
    if cpus in (cores, sockets):
        threads = 1 if cpus != cores * threads else threads
    else:
        if cpus not in (0, cores * threads):
            fitting = f"{cores * threads} are taken, all of {sockets} sockets of {per_socket} cores"
            resets.append((f"cpus={cpus}", f"fits neither sockets nor cores nor threads: {fitting}"))
        cpus = cores * threads
    return Processors(sockets, cpus, threads, _reserved(given, cpus, threads, resets))


def _reserved(given: Mapping[str, str], cpus: int, threads: int, resets: Resets) -> int:
    """Return how many processors are kept for the system: all threads of each core that is named or counted."""
    if not {"corespeccount", "cpuspeclist"} & given.keys():
        return 0
    count = whole(given, "corespeccount", 0)
    listed = _listed(given.get("cpuspeclist", ""), cpus)
    if listed:
        if count:
            resets.append((f"corespeccount={count}", "has no effect beside CPUSpecList"))
        return len({number // threads for number in listed}) * threads
    if "cpuspeclist" in given:
        resets.append((f"cpuspeclist={given['cpuspeclist']}", f"not a list of the {cpus} CPUs of the node: no effect"))
    cores = cpus // threads
    if count >= cores and count:
        resets.append((f"corespeccount={count}", f"not below the number of cores ({cores}): 1 is taken"))
        count = 1
    return count * threads


def _listed(text: str, cpus: int) -> set[int] | None:
    """Return the CPUs of a list such as 0-3,8; None if it is none, or one of them is not there."""
    try:
        names = host_names(f"[{text.strip('[]')}]")
    except InputError:
        return None
    numbers = {int(name) for name in names}
    return numbers if max(numbers, default=cpus) < cpus else None


def memory_of(given: Mapping[str, str], resets: Resets) -> int:
    """Return the MiB of a node that jobs can have; 1 without RealMemory, as to slurmctld.

    Raises
    ------
    InputError
        If a value is not a number.

    Examples
    --------
    >>> memory_of({"realmemory": "1000", "memspeclimit": "300"}, []), memory_of({}, [])
    (700, 1)
    """
    memory = max(whole(given, "realmemory", 1), 1)
    kept = whole(given, "memspeclimit", 0)
    if kept >= memory:
        resets.append((f"memspeclimit={kept}", "not below RealMemory: nothing is kept"))
        kept = 0
    return memory - kept


def whole(given: Mapping[str, str], key: str, usual: int) -> int:
    """Return the whole number that an option has.

    Raises
    ------
    InputError
        If it is something else.
    """
    text = given.get(key)
    if text is None:
        return usual
    if not text.isdecimal() or len(text) > 18:
        raise InputError(f"{f'{key}=' if key else ''}{shown(text)} is not a whole number")
    return int(text)
