"""Reservations of a site as `scontrol show reservation` prints them."""

from __future__ import annotations

import pytest

from schedlab.cluster.reservations import read_reservations
from schedlab.errors import InputError

SEVERAL = """ReservationName=course StartTime=2026-01-05T09:00:00 EndTime=2026-01-05T12:00:00 Duration=03:00:00
   Nodes=n[1-2] NodeCnt=2 CoreCnt=8 Features=(null) PartitionName=batch Flags=IGNORE_JOBS,SPEC_NODES
   TRES=cpu=8
   Users=ann,bob Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a
   MaxStartDelay=(null)

ReservationName=service StartTime=2026-01-06T00:00:00 EndTime=2026-01-06T06:00:00 Duration=06:00:00
   Nodes=n3 NodeCnt=1 CoreCnt=4 Features=(null) PartitionName=(null) Flags=MAINT,SPEC_NODES
   Users=root Accounts=(null) Licenses=(null) State=INACTIVE
"""
MIDNIGHT = 1767571200  # 2026-01-05 in UTC


def written(path, text):
    path.write_text(text)
    return path


def test_several_lines_and_one_line_say_the_same(tmp_path):
    path = written(tmp_path / "several.txt", SEVERAL)
    found = read_reservations(path, epoch=MIDNIGHT)
    assert [(one.second, one.event, one.nodes, one.end, one.users) for one in found] == [
        (9 * 3600, "reservation", ("n1", "n2"), 12 * 3600, ("ann", "bob")),
        (24 * 3600, "maintenance", ("n3",), 30 * 3600, ()),
    ]
    one_line = "\n".join(" ".join(part.split()) for part in SEVERAL.split("\n\n"))
    assert read_reservations(written(tmp_path / "one.txt", one_line), epoch=MIDNIGHT) == found


def test_times_are_of_a_zone(tmp_path):
    path = written(tmp_path / "r.txt", SEVERAL)
    assert read_reservations(path, epoch=MIDNIGHT, timezone="Europe/Stockholm").events[0].second == 8 * 3600


def test_no_reservations_are_no_events(tmp_path):
    assert len(read_reservations(written(tmp_path / "r.txt", "No reservations in the system\n"), epoch=0)) == 0


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("IGNORE_JOBS", "FLEX", "reservation 'course': the flag 'FLEX' is not modelled"),
        ("Nodes=n[1-2]", "Nodes=(null)", "reservation 'course': it names no nodes"),
        ("2026-01-05T09:00:00", "soon", "reservation 'course': StartTime is 'soon', not a time"),
        ("Users=ann,bob", "Users=-eve", "reservation 'course': the reservation 'course' denies '-eve'"),
        ("ReservationName", "Name", "no line begins with ReservationName="),
    ],
)
def test_what_is_not_understood_is_named(tmp_path, before, after, sentence):
    path = written(tmp_path / "r.txt", SEVERAL.replace(before, after))
    with pytest.raises(InputError) as error:
        read_reservations(path, epoch=MIDNIGHT)
    assert sentence in str(error.value)


def test_an_unknown_zone_is_named(tmp_path):
    with pytest.raises(InputError, match="unknown time zone 'Mars'"):
        read_reservations(written(tmp_path / "r.txt", SEVERAL), epoch=0, timezone="Mars")
