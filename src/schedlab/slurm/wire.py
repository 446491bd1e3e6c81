"""What all messages between slurmctld and a node are made of; everything is big-endian.

Strings are their length with the closing NUL (u32, 0: none) and their bytes. The messages themselves differ by version:
see `schedlab.slurm.messages`.
"""

from __future__ import annotations

import re
import socket
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

AUTH_NONE = 100
NO_VAL = 0xFFFFFFFE
BATCH_STEP = 0xFFFFFFFB
GRES_MAGIC = 0x438A34D4

ALREADY_COMPLETE = 4002
"""What a slurmd answers to a request to end a job of which nothing is left (ESLURMD_KILL_JOB_ALREADY_COMPLETE)."""


class Message(IntEnum):
    """Types of messages."""

    NODE_REGISTRATION_REQUEST = 1001
    NODE_REGISTRATION = 1002
    PING = 1008
    PING_RESPONSE = 1016
    BATCH_LAUNCH = 4005
    BATCH_COMPLETE = 5018
    SUSPEND = 5031
    KILL_TIMELIMIT = 6009
    TERMINATE = 6011
    ABORT = 6013
    KILL_PREEMPTED = 6016
    RETURN_CODE = 8001


KILLS = frozenset({Message.KILL_TIMELIMIT, Message.TERMINATE, Message.ABORT, Message.KILL_PREEMPTED})


class WireError(Exception):
    """A message is not what this version of Slurm sends."""


class Received(NamedTuple):
    """A message: its protocol version, its type and its body."""

    version: int
    type: int
    body: bytes


class Launch(NamedTuple):
    """A batch job that is to be started on its first node; cores and GPUs on each node, in slurmctld's order."""

    job: int
    array_job: int
    nodes: str
    cores: tuple[int, ...] = ()
    gpus: tuple[int, ...] = ()


class Kill(NamedTuple):
    """A job that is to be ended, and the state that it is in."""

    job: int
    state: int

    @property
    def comes_back(self) -> bool:
        """Whether it is requeued: it is pending, or marked so."""
        return self.state & 0xFF == 0 or bool(self.state & 0x400)


BOOTED = 86_400
"""Unix time at which nodes booted that were never off: a later one would be taken for an unexpected reboot, and one
later than the jobs, which may be those of a log of 1996, would be in the future."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node, as it describes itself."""

    name: str
    cpus: int
    sockets: int
    cores: int
    threads: int
    memory: int
    gres: tuple[tuple[str, str, int], ...] = ()
    booted: int = BOOTED


class Reader:
    """Reads a body from its first byte.

    Raises
    ------
    WireError
        If it is shorter than it should be.
    """

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.at = 0

    def number(self, kind: str) -> int:
        """Read a number, with the letter that `struct` has for it."""
        size = struct.calcsize(">" + kind)
        if self.at + size > len(self.body):
            raise WireError(f"a message ends after {len(self.body)} bytes")
        (value,) = struct.unpack_from(">" + kind, self.body, self.at)
        self.at += size
        return int(value)

    def text(self) -> str:
        """Read a string; none is an empty one."""
        size = self.number("I")
        if self.at + size > len(self.body):
            raise WireError(f"a message of {len(self.body)} bytes has a text of {size}")
        value = self.body[self.at : self.at + size]
        self.at += size
        return value.rstrip(b"\0").decode(errors="replace")

    def numbers(self, kind: str) -> list[int]:
        """Read an array of numbers."""
        return [self.number(kind) for _ in range(self.number("I"))]


def text(value: str | None) -> bytes:
    """Return a string as it is sent."""
    if value is None:
        return struct.pack(">I", 0)
    data = value.encode() + b"\0"
    return struct.pack(">I", len(data)) + data


def first_node(expression: str) -> str:
    """Return the first node of a host list.

    Examples
    --------
    >>> first_node("gn[003-007,9],b1"), first_node("login")
    ('gn003', 'login')
    """
    matched = re.match(r"([^\[,]*)(?:\[([^\],-]+)[^\]]*\])?([^,]*)", expression)
    assert matched is not None
    return "".join(part or "" for part in matched.groups())


def exactly(connection: socket.socket, size: int) -> bytes:
    """Read so many bytes."""
    data = bytearray()
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise WireError("a connection was closed within a message")
        data += part
    return bytes(data)
