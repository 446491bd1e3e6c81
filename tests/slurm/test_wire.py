"""Messages of each version of Slurm, byte by byte."""

from __future__ import annotations

import socket
import struct
import threading

import pytest

from schedlab.errors import InputError
from schedlab.slurm import wire
from schedlab.slurm.releases import RELEASES, release_of
from schedlab.slurm.wire import Message, Node, WireError

OLD, NEW = RELEASES["22.05"].messages, RELEASES["24.11"].messages


def exchanged(data: bytes) -> wire.Received:
    left, right = socket.socketpair()
    with left, right:
        threading.Thread(target=left.sendall, args=(data,)).start()
        return OLD.receive(right)


def test_a_frame_comes_back_as_it_was_sent():
    received = exchanged(OLD.frame(Message.RETURN_CODE, struct.pack(">I", 4002)))
    assert received == (OLD.protocol, 8001, struct.pack(">I", 4002))


def test_another_protocol_a_forward_and_a_long_body_are_refused():
    good = OLD.frame(Message.PING, b"")
    with pytest.raises(WireError, match="protocol 40"):
        exchanged(good[:4] + struct.pack(">H", 40 << 8) + good[6:])
    with pytest.raises(WireError, match="forward"):
        exchanged(good[:14] + struct.pack(">H", 1) + good[16:])
    with pytest.raises(WireError, match="claims a body"):
        exchanged(good[:10] + struct.pack(">I", 10**6) + good[14:])


def test_a_launch_names_job_array_and_nodes():
    body = struct.pack(">IIII", 12, 0, 7, 7) + wire.text("ann") + struct.pack(">III", 2, 7, 8)
    body += wire.text("batch") + struct.pack(">IQBBII", 4, 0, 0, 0, 11, 3) + wire.text(None) + wire.text(None)
    body += struct.pack(">HHHH", 0, 1, 0, 0) + struct.pack(">IIHII", 1, 1, 4, 1, 1)
    body += wire.text(None) + wire.text(None) + wire.text("n[3-4]")
    assert OLD.read_launch(body) == (12, 11, "n[3-4]", (4,), ())
    with pytest.raises(WireError, match="ends after"):
        OLD.read_launch(body[:30])


def test_a_launch_tells_the_cores_and_gpus_of_each_node():
    head = struct.pack(">IIII", 12, 0, 7, 7) + wire.text("ann") + struct.pack(">III", 2, 7, 8)
    head += wire.text("batch") + struct.pack(">IQBBII", 4, 0, 0, 0, 11, 3) + wire.text(None) + wire.text(None)
    head += struct.pack(">HHHH", 0, 1, 0, 0)
    # Twice 4 cores, once 2: counts, and how often each comes.
    head += struct.pack(">IIHHIII", 1, 2, 4, 2, 2, 2, 1) + wire.text(None) + wire.text(None) + wire.text("n[3-5]")

    def given(gpus: list[int], total: int) -> bytes:
        block = struct.pack(">II46xQ", wire.GRES_MAGIC, 0x757067, total) + wire.text(None)
        return block + struct.pack(f">IBI{len(gpus)}Q", len(gpus), 1, len(gpus), *gpus)

    assert OLD.read_launch(head)[3:] == ((4, 4, 2), ())
    # Two types of GPUs are added up; a block whose sum does not fit is something else.
    body = head + b"credential" + given([2, 0, 1], 3) + given([0, 1, 0], 1) + given([1, 1, 1], 7)
    assert OLD.read_launch(body)[3:] == ((4, 4, 2), (2, 1, 1))


@pytest.mark.parametrize(("state", "comes_back"), [(0x8003, False), (0x8006, False), (0x8000, True), (0x8404, True)])
def test_a_kill_says_whether_the_job_comes_back(state: int, comes_back: bool):
    rest = struct.pack(">IIIIIII", 12, wire.BATCH_STEP, wire.NO_VAL, 0, state, 7, 7) + wire.text("n1")
    plain = struct.pack(">B", 0) + wire.text(None) + struct.pack(">IIH", 0, 0, 0) + rest
    signed = struct.pack(">BIII", 1, 12, wire.BATCH_STEP, wire.NO_VAL) + b"credential" + wire.text(None) + rest
    for body in (plain, signed):
        assert OLD.read_kill(body).job == 12
        assert OLD.read_kill(body).comes_back is comes_back


def test_a_registration_has_a_block_of_generic_resources_even_if_there_are_none():
    plain = Node("n1", 4, 1, 4, 1, 1000)
    gpus = Node("n1", 4, 1, 4, 1, 1000, (("gpu", "tesla", 2),))
    assert struct.pack(">IHH", 4, OLD.protocol, 0) in OLD.registration(plain, 1_700_000_000, [3])
    assert struct.pack(">IQ", wire.GRES_MAGIC, 2) in OLD.registration(gpus, 1_700_000_000, [])


def test_a_node_has_booted_before_the_jobs_of_a_log_of_1996():
    node, second = Node("n1", 4, 1, 4, 1, 1000), 843_480_031
    assert struct.pack(">I", second - node.booted) in OLD.registration(node, second, [])
    assert struct.pack(">I", second - node.booted) in NEW.registration(node, second, [])


def test_newer_versions_say_less_before_the_array_and_the_nodes_of_a_launch():
    body = struct.pack(">II", 12, 0) + wire.text(None) + wire.text("batch")
    body += struct.pack(">IQBBII", 4, 0, 0, 0, 11, 3) + wire.text(None) + wire.text(None)
    body += struct.pack(">HHHH", 0, 1, 0, 0) + struct.pack(">IIHII", 1, 1, 4, 1, 2)
    body += wire.text(None) + wire.text("n[3-4]")
    assert NEW.read_launch(body) == (12, 11, "n[3-4]", (4, 4), ())


def test_newer_versions_name_a_suspended_job_first_and_a_credential_by_a_number_over_all_clusters():
    assert (
        NEW.read_suspend(struct.pack(">IH", 12, 0)) == OLD.read_suspend(struct.pack(">BHIH", 0, 0, 12, 0)) == (12, True)
    )
    rest = struct.pack(">IIIIIII", 12, wire.BATCH_STEP, wire.NO_VAL, 0, 0x8404, 7, 7) + wire.text("n1")
    head = struct.pack(">BQIII", 1, 99, 12, wire.BATCH_STEP, wire.NO_VAL)
    assert NEW.read_kill(head + b"credential" + wire.text(None) + rest) == (12, 0x8404)


def test_a_newer_slurmctld_may_begin_in_an_older_protocol():
    left, right = socket.socketpair()
    with left, right:
        header = struct.pack(">HHHIHHH", 39 << 8, 0, Message.PING, 0, 0, 0, 0)
        left.sendall(struct.pack(">I", len(header)) + header)
        assert NEW.receive(right) == (39 << 8, Message.PING, b"")


def test_unknown_versions_are_refused_with_those_that_are_known():
    assert release_of("26.05.5") is RELEASES["26.05"]
    with pytest.raises(InputError, match=r"Slurm 23\.11: the laboratory knows the messages of 22\.05, 24\.11"):
        release_of("23.11")
