"""The versions of Slurm that a laboratory runs: what is new in their messages, and where Debian has them.

Slurm N reads messages of the three versions before it. So one packing, that of 24.11, serves 24.11 to 26.05. The
layouts were read off the traffic of these versions' own slurmctld and slurmd on one machine.
"""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

from schedlab.errors import InputError
from schedlab.slurm.messages import Messages, behind_credential, gpus_in, read_shape
from schedlab.slurm.wire import BATCH_STEP, NO_VAL, Kill, Launch, Node, Reader, text


class MessagesSince2411(Messages):
    """As Slurm 24.11 packs them."""

    __slots__ = ()

    def _type_at(self, version: int) -> int:
        return 4

    def registration(self, node: Node, second: int, jobs: list[int]) -> bytes:
        """Return the body with which a node registers, and names the batch jobs that run on it."""
        body = struct.pack(">qqI", second, node.booted, 0) + text(None) * 3
        body += text(socket.gethostname()) + text("") + text("") + text(node.name) + self._hardware(node, second)
        steps = (struct.pack(">QIII", 0, job, BATCH_STEP, NO_VAL) for job in jobs)
        body += struct.pack(">I", len(jobs)) + b"".join(steps) + self._gres(node) + bytes(_ENERGY)
        return body + text(self.release) + struct.pack(">B", 0) + text(None) + text(None)

    def read_launch(self, body: bytes) -> Launch:
        """Read which job is to be started where."""
        reader = Reader(body)
        job = reader.number("I")
        reader.number("I"), reader.text(), reader.text()
        array_job, cores = read_shape(reader)
        reader.text()
        return Launch(job, array_job, reader.text(), cores, gpus_in(body, len(cores)))

    def read_kill(self, body: bytes) -> Kill:
        """Read which job is to be ended."""
        reader = Reader(body)
        if reader.number("B"):
            reader.number("Q")  # the number of the job over all clusters (SLUID)
            return behind_credential(body, reader.number("I"))
        return super().read_kill(body)

    def read_suspend(self, body: bytes) -> tuple[int, bool]:
        """Read which job is to be suspended (True) or resumed (False)."""
        reader = Reader(body)
        return reader.number("I"), reader.number("H") == 0


_ENERGY = 48
"""Bytes of the energy that a node has used."""


class Release(NamedTuple):
    """A version of Slurm.

    Parameters
    ----------
    messages
        How it packs them.
    suite
        Where Debian has it; empty: nowhere.
    options
        Parameters of slurm.conf, and options that a laboratory adds to them.
    logs_backfill
        Whether its log tells which starts are those of the backfill pass. Otherwise all are that the main pass does
        not name.
    lineage
        Whether its state says where an association stands by its path, and not by the numbers of a nested set.
    """

    messages: Messages
    suite: str = ""
    options: tuple[tuple[str, str], ...] = ()
    logs_backfill: bool = True
    lineage: bool = True


_FEW_THREADS = (("SlurmctldParameters", "conmgr_threads=4"),)
"""For connections: how many says nothing about scheduling, and the clock looks at all of them."""

_SINCE_2411 = Release(MessagesSince2411("24.11.5", 42, 39), options=_FEW_THREADS)
_SINCE_2505 = _SINCE_2411._replace(logs_backfill=False)

RELEASES = {
    "22.05": Release(Messages("22.05.8", 38, 36), "bookworm", lineage=False),
    "24.11": _SINCE_2411._replace(suite="trixie"),
    "25.05": _SINCE_2505,
    "25.11": _SINCE_2505,
    "26.05": _SINCE_2505._replace(suite="sid"),
}
"""By their first two numbers, in order."""


def name_of(version: str) -> str:
    """Return the name of the release of a version: its first two numbers.

    Examples
    --------
    >>> name_of("24.11.5")
    '24.11'
    """
    return ".".join(version.split(".")[:2])


def release_of(version: str) -> Release:
    """Return what is known of a version of Slurm, such as "24.11.5" or "24.11".

    Raises
    ------
    InputError
        If the laboratory does not know its messages.

    Examples
    --------
    >>> release_of("24.11.5").messages.number
    42
    """
    name = name_of(version)
    if name not in RELEASES:
        known = ", ".join(RELEASES)
        raise InputError(f"Slurm {version}: the laboratory knows the messages of {known} only")
    return RELEASES[name]
