"""The stand-in for slurmd: what it cannot read ends a run with the reason, and does not keep slurmctld waiting."""

from __future__ import annotations

import socket
import struct
import time
from types import SimpleNamespace

import pytest

from schedlab.slurm.daemon import LaboratoryError
from schedlab.slurm.laboratory import Laboratory
from schedlab.slurm.releases import RELEASES
from schedlab.slurm.standin import Standin
from schedlab.slurm.wire import Message

VERSIONS = [name for name, release in RELEASES.items() if release.suite]


def after(version: str, frame: bytes) -> Standin:
    """Return a stand-in that has been sent something, and has looked at it."""
    standin = Standin(SimpleNamespace(launched=lambda _: None), RELEASES[version].messages)  # type: ignore[arg-type]
    standin.start()
    with socket.create_connection(("127.0.0.1", standin.port)) as connection:
        connection.sendall(frame)
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(20)
        while connection.recv(4096):
            pass
    for _ in range(200):
        if standin.failure is not None:
            break
        time.sleep(0.01)
    standin.close()
    return standin


@pytest.mark.parametrize("version", VERSIONS)
def test_a_launch_that_cannot_be_read_ends_the_run_with_the_reason(version: str) -> None:
    messages = RELEASES[version].messages
    standin = after(version, messages.frame(Message.BATCH_LAUNCH, struct.pack(">I", 12)))
    laboratory = SimpleNamespace(standin=standin)
    with pytest.raises(LaboratoryError, match=r"^the simulated slurmd failed: WireError: .*ends after"):
        Laboratory._check_standin(laboratory)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cut", "reason"), [(3, "closed"), (10, "closed")], ids=["within its length", "within its head"]
)
def test_a_message_that_is_cut_short_ends_the_run_too(cut: int, reason: str) -> None:
    frame = RELEASES["24.11"].messages.frame(Message.PING, b"")
    assert reason in str(after("24.11", frame[:cut]).failure)


def test_a_whole_message_is_no_failure() -> None:
    messages = RELEASES["26.05"].messages
    assert after("26.05", messages.frame(Message.PING, b"")).failure is None
