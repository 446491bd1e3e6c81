"""The few messages of Slurm 22.05 that a stand-in for slurmd needs; everything is big-endian.

A frame is its length (u32), a header, a credential of auth/none, and a body. Strings are their length with the closing
NUL (u32, 0: none) and their bytes. Slurm speaks to a node that it has never met in the oldest protocol it knows, with
one more field in the header.
"""

from __future__ import annotations

import os
import re
import socket
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

PROTOCOL = 38 << 8
"""Of Slurm 22.05."""

OLDEST_PROTOCOL = 36 << 8

AUTH_NONE = 100
NO_VAL = 0xFFFFFFFE
BATCH_STEP = 0xFFFFFFFB
GRES_MAGIC = 0x438A34D4

ALREADY_COMPLETE = 4002
"""What a slurmd answers to a request to end a job of which nothing is left (ESLURMD_KILL_JOB_ALREADY_COMPLETE)."""

_LONGEST = 1 << 30
_GRES_REQUEST = 46
"""Bytes of what a job asked of a generic resource, before what it was given."""
_BOOT = 10**9
"""Unix time at which all nodes were booted: a later one would be taken for an unexpected reboot."""


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
    """A message is not what Slurm 22.05 sends."""


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


def frame(type: Message, body: bytes) -> bytes:
    """Return a message, ready to be sent."""
    header = struct.pack(">HHHIHHH", PROTOCOL, 0, type, len(body), 0, 0, 0)
    credential = struct.pack(">III", AUTH_NONE, os.getuid(), os.getgid()) + text(socket.gethostname())
    message = header + credential + body
    return struct.pack(">I", len(message)) + message


def receive(connection: socket.socket) -> Received:
    """Read a message.

    Raises
    ------
    WireError
        If it is of another protocol.
    """
    (size,) = struct.unpack(">I", _exactly(connection, 4))
    if not 14 <= size <= _LONGEST:
        raise WireError(f"a message claims a length of {size} bytes")
    data = _exactly(connection, size)
    (version,) = struct.unpack_from(">H", data)
    if not OLDEST_PROTOCOL <= version <= PROTOCOL:
        raise WireError(f"a message is of protocol {version >> 8}; Slurm 22.05 speaks {PROTOCOL >> 8}")
    type, length, forwards = struct.unpack_from(">HIH", data, 4 if version == PROTOCOL else 6)
    if forwards:
        raise WireError("Slurm asks a node to forward a message, although TreeWidth is larger than the machine")
    if length > size:
        raise WireError(f"a message of {size} bytes claims a body of {length}")
    return Received(version, type, data[size - length :])


def call(port: int, type: Message, body: bytes, *, seconds: float = 100) -> Received:
    """Send a message to the controller, and return its answer."""
    with socket.create_connection(("127.0.0.1", port), seconds) as connection:
        connection.sendall(frame(type, body))
        return receive(connection)


def return_code(code: int) -> bytes:
    """Return the message that answers with a return code."""
    return frame(Message.RETURN_CODE, struct.pack(">I", code))


def ping_response() -> bytes:
    """Return the answer to a ping: no load, some memory."""
    return frame(Message.PING_RESPONSE, struct.pack(">IQ", 0, 1000))


def registration(node: Node, second: int, jobs: list[int]) -> bytes:
    """Return the body with which a node registers, and names the batch jobs that run on it."""
    body = struct.pack(">qqI", second, _BOOT, 0) + text(None) + text(None)
    body += text(socket.gethostname()) + text(node.name) + text("x86_64") + text(None) + text("Linux")
    shape = (node.cpus, 1, node.sockets, node.cores, node.threads)
    body += struct.pack(">HHHHHQIIIIQ", *shape, node.memory, 0, second - _BOOT, NO_VAL, 0, node.memory)
    body += struct.pack(">I", len(jobs)) + b"".join(struct.pack(">III", job, BATCH_STEP, NO_VAL) for job in jobs)
    # Slurm reads an empty block of generic resources, but crashes if there is none.
    gres = struct.pack(">HH", PROTOCOL, len(node.gres)) + b"".join(_gres(node, *each) for each in node.gres)
    body += struct.pack(">HI", 0, len(gres)) + (struct.pack(">I", len(gres)) + gres)
    body += struct.pack(">QIQIQq", 0, 0, 0, 0, 0, 0)  # energy
    return body + text("22.05.8") + struct.pack(">B", 0) + text(None) + text(None)


def _gres(node: Node, name: str, kind: str, count: int) -> bytes:
    head = struct.pack(">IQIII", GRES_MAGIC, count, node.cpus, 0, _number_of(name))
    return head + text(None) + text(None) + text(name) + text(kind or None) + text(None)


def _number_of(resource: str) -> int:
    """Return the number by which Slurm knows a generic resource."""
    return sum(letter << (place * 8 % 32) for place, letter in enumerate(resource.encode())) & 0xFFFFFFFF


def batch_complete(job: int, node: str) -> bytes:
    """Return the body that says that a batch script has ended; node is the first of the job."""
    return struct.pack(">BIIII", 0, job, 0, 0, os.getuid()) + text(node)


def read_launch(body: bytes) -> Launch:
    """Read which job is to be started where."""
    reader = Reader(body)
    job = reader.number("I")
    for kind in "III":
        reader.number(kind)
    reader.text()
    reader.numbers("I")
    reader.text()
    for kind in "IQBB":
        reader.number(kind)
    array_job = reader.number("I")
    reader.number("I")
    reader.text(), reader.text()
    for kind in "HHHH":
        reader.number(kind)
    cores: list[int] = []
    if reader.number("I"):
        for count, times in zip(reader.numbers("H"), reader.numbers("I"), strict=True):
            cores += [count] * times
    reader.text(), reader.text()
    return Launch(job, array_job, reader.text(), tuple(cores), _gpus_in(body, len(cores)))


def _gpus_in(body: bytes, nodes: int) -> tuple[int, ...]:
    """Return the GPUs on each node of a job, from the credential in a message; nothing if there are none.

    Types of GPUs stand apart and are added up. What only looks like such a block has no sum that fits.
    """
    gpus = [0] * nodes
    begin = struct.pack(">II", GRES_MAGIC, _number_of("gpu"))
    at = body.find(begin)
    while at >= 0:
        reader = Reader(body)
        reader.at = at + len(begin) + _GRES_REQUEST
        try:
            total, _, count = reader.number("Q"), reader.text(), reader.number("I")
            held = reader.numbers("Q") if count == nodes and reader.number("B") == 1 else []
        except WireError:
            break
        if len(held) == nodes and sum(held) == total:
            gpus = [before + more for before, more in zip(gpus, held, strict=True)]
        at = body.find(begin, at + 1)
    return tuple(gpus) if any(gpus) else ()


def read_kill(body: bytes) -> Kill:
    """Read which job is to be ended.

    Raises
    ------
    WireError
        If it is not said where Slurm 22.05 says it.
    """
    reader = Reader(body)
    if reader.number("B"):
        return _behind_credential(body, reader.number("I"))
    reader.text()
    reader.number("I"), reader.number("I")
    for _ in range(reader.number("H")):
        _skip_gres(reader)
    job = reader.number("I")
    for kind in "III":
        reader.number(kind)
    return Kill(job, reader.number("I"))


def _behind_credential(body: bytes, job: int) -> Kill:
    """Read on behind a credential, which begins with the number of the job, and whose length is not said.

    Behind it, the number comes again, with a step, no component of a heterogeneous job, and the state.
    """
    at = body.rfind(struct.pack(">I", job))
    while at > 5:
        if at + 20 <= len(body):
            _, _, component, _, state = struct.unpack_from(">IIIII", body, at)
            if component == NO_VAL:
                return Kill(job, state)
        at = body.rfind(struct.pack(">I", job), 0, at + 3)
    raise WireError(f"a message that ends job {job} has no state")


def _skip_gres(reader: Reader) -> None:
    if reader.number("I") != GRES_MAGIC:
        raise WireError("the generic resources of a message are not in the layout of Slurm 22.05")
    reader.number("I")
    nodes = reader.number("I")
    if reader.number("B"):
        reader.numbers("Q")
    if reader.number("B"):
        for _ in range(nodes):
            if reader.number("I") != NO_VAL:
                reader.text()


def read_suspend(body: bytes) -> tuple[int, bool]:
    """Read which job is to be suspended (True) or resumed (False)."""
    reader = Reader(body)
    reader.number("B"), reader.number("H")
    return reader.number("I"), reader.number("H") == 0


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


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise WireError("a connection was closed within a message")
        data += part
    return bytes(data)
