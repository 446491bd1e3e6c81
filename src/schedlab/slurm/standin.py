"""A stand-in for the slurmd of every node: jobs are entries of a table, never processes."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from contextlib import suppress
from typing import Protocol

from schedlab.slurm.messages import Messages
from schedlab.slurm.wire import ALREADY_COMPLETE, KILLS, Kill, Launch, Message, Received


class Site(Protocol):
    """Who is told what slurmctld asks of the nodes, before it gets its answer."""

    def launched(self, launch: Launch) -> None:
        """A job is to be started."""

    def killed(self, kill: Kill) -> None:
        """A job is to be ended; this comes once per node of the job."""

    def suspended(self, job: int, suspended: bool) -> None:
        """A job is to be suspended, or resumed."""

    def asked_to_register(self) -> None:
        """A node is to register."""


class Standin(threading.Thread):
    """Listens on one port of the loopback for all nodes, and answers as a slurmd without jobs would.

    Parameters
    ----------
    site
        Who is told.
    messages
        Those of the version of Slurm.
    """

    def __init__(self, site: Site, messages: Messages) -> None:
        super().__init__(name="slurmd-stand-in", daemon=True)
        self.site = site
        self.messages = messages
        self.counts: Counter[int] = Counter()
        self.failure: Exception | None = None
        self._server = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = int(self._server.getsockname()[1])

    def run(self) -> None:
        """Answer until the server is closed."""
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.settimeout(60)
                    connection.sendall(self._answer(self.messages.receive(connection)))
                except Exception as error:  # whatever it is, the laboratory has to know: slurmctld would wait for ever
                    self.failure = self.failure or error

    def close(self) -> None:
        """Stop listening."""
        # A thread that waits in accept is woken by a shutdown, not by closing the descriptor.
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _answer(self, message: Received) -> bytes:
        messages = self.messages
        self.counts[message.type] += 1
        if message.version != messages.protocol:  # the first contact; the laboratory registers all nodes by itself
            return messages.return_code(0)
        if message.type in KILLS:
            self.site.killed(messages.read_kill(message.body))
            return messages.return_code(ALREADY_COMPLETE)
        if message.type == Message.BATCH_LAUNCH:
            self.site.launched(messages.read_launch(message.body))
        elif message.type == Message.SUSPEND:
            self.site.suspended(*messages.read_suspend(message.body))
        elif message.type == Message.NODE_REGISTRATION_REQUEST:
            self.site.asked_to_register()
        if message.type in (Message.PING, Message.NODE_REGISTRATION_REQUEST):
            return messages.ping_response()
        return messages.return_code(0)
