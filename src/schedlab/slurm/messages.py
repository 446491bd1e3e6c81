"""The few messages that a stand-in for slurmd needs, as Slurm 22.05 packs them; later versions replace some.

A frame is its length (u32), a header, a credential of auth/none, and a body. Slurm speaks to a node that it has never
met in the oldest protocol it knows, with one more field in the header before 23.02.
"""

from __future__ import annotations

import os
import socket
import struct
from dataclasses import dataclass

from schedlab.slurm.wire import (
    AUTH_NONE,
    BATCH_STEP,
    GRES_MAGIC,
    NO_VAL,
    Kill,
    Launch,
    Message,
    Node,
    Reader,
    Received,
    WireError,
    exactly,
    text,
)

_LONGEST = 1 << 30
_GRES_REQUEST = 46
"""Bytes of what a job asked of a generic resource, before what it was given."""


@dataclass(frozen=True, slots=True)
class Messages:
    """How a version of Slurm packs its messages.

    Parameters
    ----------
    release
        The version that a node says it has, such as "22.05.8".
    number
        Of the protocol.
    oldest
        The oldest protocol in which slurmctld may begin to speak.
    """

    release: str
    number: int
    oldest: int

    @property
    def protocol(self) -> int:
        """The protocol as it stands in headers."""
        return self.number << 8

    def frame(self, type: Message, body: bytes) -> bytes:
        """Return a message, ready to be sent."""
        header = struct.pack(">HHHIHHH", self.protocol, 0, type, len(body), 0, 0, 0)
        credential = struct.pack(">III", AUTH_NONE, os.getuid(), os.getgid()) + text(socket.gethostname())
        message = header + credential + body
        return struct.pack(">I", len(message)) + message

    def receive(self, connection: socket.socket) -> Received:
        """Read a message.

        Raises
        ------
        WireError
            If it is of another protocol.
        """
        (size,) = struct.unpack(">I", exactly(connection, 4))
        if not 14 <= size <= _LONGEST:
            raise WireError(f"a message claims a length of {size} bytes")
        data = exactly(connection, size)
        (version,) = struct.unpack_from(">H", data)
        if not self.oldest << 8 <= version <= self.protocol:
            raise WireError(f"a message is of protocol {version >> 8}; Slurm {self.release} speaks {self.number}")
        type, length, forwards = struct.unpack_from(">HIH", data, self._type_at(version))
        if forwards:
            raise WireError("Slurm asks a node to forward a message, although TreeWidth is larger than the machine")
        if length > size:
            raise WireError(f"a message of {size} bytes claims a body of {length}")
        return Received(version, type, data[size - length :])

    def _type_at(self, version: int) -> int:
        """Return where the type of a message stands; the protocol before has one more field in front of it."""
        return 4 if version == self.protocol else 6

    def call(self, port: int, type: Message, body: bytes, *, seconds: float = 100) -> Received:
        """Send a message to the controller, and return its answer."""
        with socket.create_connection(("127.0.0.1", port), seconds) as connection:
            connection.sendall(self.frame(type, body))
            return self.receive(connection)

    def return_code(self, code: int) -> bytes:
        """Return the message that answers with a return code."""
        return self.frame(Message.RETURN_CODE, struct.pack(">I", code))

    def ping_response(self) -> bytes:
        """Return the answer to a ping: no load, some memory."""
        return self.frame(Message.PING_RESPONSE, struct.pack(">IQ", 0, 1000))

    def registration(self, node: Node, second: int, jobs: list[int]) -> bytes:
        """Return the body with which a node registers, and names the batch jobs that run on it."""
        body = struct.pack(">qqI", second, node.booted, 0) + text(None) + text(None)
        body += text(socket.gethostname()) + text(node.name) + self._hardware(node, second)
        body += struct.pack(">I", len(jobs)) + b"".join(struct.pack(">III", job, BATCH_STEP, NO_VAL) for job in jobs)
        body += self._gres(node) + struct.pack(">QIQIQq", 0, 0, 0, 0, 0, 0)  # energy
        return body + text(self.release) + struct.pack(">B", 0) + text(None) + text(None)

    def _hardware(self, node: Node, second: int) -> bytes:
        shape = (node.cpus, 1, node.sockets, node.cores, node.threads)
        numbers = struct.pack(">HHHHHQIIIIQ", *shape, node.memory, 0, second - node.booted, NO_VAL, 0, node.memory)
        return text("x86_64") + text(None) + text("Linux") + numbers

    def _gres(self, node: Node) -> bytes:
        """Return generic resources; Slurm reads an empty block of them, but crashes if there is none."""
        block = struct.pack(">HH", self.protocol, len(node.gres)) + b"".join(_gres(node, *each) for each in node.gres)
        return struct.pack(">HI", 0, len(block)) + struct.pack(">I", len(block)) + block

    def batch_complete(self, job: int, node: str) -> bytes:
        """Return the body that says that a batch script has ended; node is the first of the job."""
        return struct.pack(">BIIII", 0, job, 0, 0, os.getuid()) + text(node)

    def read_launch(self, body: bytes) -> Launch:
        """Read which job is to be started where."""
        reader = Reader(body)
        job = reader.number("I")
        for kind in "III":
            reader.number(kind)
        reader.text()
        reader.numbers("I")
        reader.text()
        array_job, cores = read_shape(reader)
        reader.text(), reader.text()
        return Launch(job, array_job, reader.text(), cores, gpus_in(body, len(cores)))

    def read_kill(self, body: bytes) -> Kill:
        """Read which job is to be ended.

        Raises
        ------
        WireError
            If it is not said where this version of Slurm says it.
        """
        reader = Reader(body)
        if reader.number("B"):
            return behind_credential(body, reader.number("I"))
        reader.text()
        reader.number("I"), reader.number("I")
        for _ in range(reader.number("H")):
            _skip_gres(reader)
        job = reader.number("I")
        for kind in "III":
            reader.number(kind)
        return Kill(job, reader.number("I"))

    def read_suspend(self, body: bytes) -> tuple[int, bool]:
        """Read which job is to be suspended (True) or resumed (False)."""
        reader = Reader(body)
        reader.number("B"), reader.number("H")
        return reader.number("I"), reader.number("H") == 0


def read_shape(reader: Reader) -> tuple[int, tuple[int, ...]]:
    """Read on in a launch: the array of a job, and its cores on each node."""
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
    return array_job, tuple(cores)


def _gres(node: Node, name: str, kind: str, count: int) -> bytes:
    head = struct.pack(">IQIII", GRES_MAGIC, count, node.cpus, 0, _number_of(name))
    return head + text(None) + text(None) + text(name) + text(kind or None) + text(None)


def _number_of(resource: str) -> int:
    """Return the number by which Slurm knows a generic resource."""
    return sum(letter << (place * 8 % 32) for place, letter in enumerate(resource.encode())) & 0xFFFFFFFF


def gpus_in(body: bytes, nodes: int) -> tuple[int, ...]:
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


def behind_credential(body: bytes, job: int) -> Kill:
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
        raise WireError("the generic resources of a message are not in a layout that is known")
    reader.number("I")
    nodes = reader.number("I")
    if reader.number("B"):
        reader.numbers("Q")
    if reader.number("B"):
        for _ in range(nodes):
            if reader.number("I") != NO_VAL:
                reader.text()
