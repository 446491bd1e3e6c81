"""What the states of nodes mean, in all forms in which Slurm prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.cluster.downtimes import read_downtimes
from schedlab.cluster.node_states import MARKS, WORDS, service_of
from schedlab.errors import InputError

EPOCH = 1775001600
"""2026-04-01, 0:00 UTC."""


def events_of(tmp_path: Path, *lines: str, head: str = "NodeName|TimeStart|TimeEnd|State|Reason"):
    path = tmp_path / "events.txt"
    path.write_text("\n".join([head, *lines]) + "\n")
    return read_downtimes(path, epoch=EPOCH)


def told(events) -> list[tuple[int, str, tuple[str, ...]]]:
    return [(one.second, one.event, one.nodes) for one in events]


@pytest.mark.parametrize(
    "state", ["DOWN", "DOWN*", "down~", "DOWN$", "DOWN+CLOUD+POWERED_DOWN", "FAIL*", "FAILG", "ERROR"]
)
def test_a_node_that_is_down_is_so_whatever_its_power(state: str) -> None:
    assert service_of(state) == "down"


@pytest.mark.parametrize(
    "state",
    [
        *("DRAIN", "DRAINED*", "DRAINING", "DRNG", "DRNG*", "DRNG@", "DRAIN~", "IDLE+DRAIN", "MIXED+DRAIN", "drain$"),
        *("IDLE+DRAIN+POWERED_DOWN", "MAINT", "IDLE$", "ALLOCATED+MAINTENANCE", "RESV", "BOOT", "BOOT^", "IDLE*"),
        *("IDLE+NOT_RESPONDING", "IDLE,DRAIN"),
    ],
)
def test_a_node_that_takes_no_more_jobs_is_drained(state: str) -> None:
    assert service_of(state) == "drain"


@pytest.mark.parametrize(
    "state",
    [
        *("IDLE~", "IDLE#", "IDLE%", "IDLE!", "MIX#", "ALLOC#", "POW_UP", "POW_DN", "IDLE+POWERING_UP"),
        *("IDLE+CLOUD+POWERED_DOWN", "IDLE+POWERING_DOWN", "IDLE+POWER_DOWN", "IDLE+POWER", "IDLE+CLOUD+POWER_DRAIN"),
    ],
)
def test_power_saving_is_no_failure(state: str) -> None:
    assert service_of(state) == "power saving"


@pytest.mark.parametrize(
    "state", ["IDLE", "MIX", "MIX-", "ALLOC+", "COMP", "PLND", "IDLE@", "IDLE+PLANNED", "IDLE+CLOUD"]
)
def test_a_node_in_service_is_none_that_is_out_of_it(state: str) -> None:
    assert service_of(state) == "in service"


@pytest.mark.parametrize("state", ["TIRED", "IDLE+TIRED", "DOWN?", ""])
def test_a_state_that_slurm_does_not_have_is_refused(state: str) -> None:
    with pytest.raises(InputError, match="state"):
        service_of(state)


def test_each_state_has_one_meaning_with_every_mark() -> None:
    strength = ["in service", "power saving", "drain", "down"]
    for word, meaning in WORDS.items():
        for mark, of_mark in MARKS.items():
            assert service_of(word + mark) == max(meaning, of_mark, key=strength.index)


def test_short_states_are_read_and_a_node_off_to_save_power_stays_in_service(tmp_path: Path) -> None:
    events = events_of(
        tmp_path,
        "n1|2026-04-01T01:00:00|2026-04-01T02:00:00|DRNG|disk",
        "n2|2026-04-01T01:00:00|2026-04-01T02:00:00|DOWN*|Not responding",
        "n3|2026-04-01T01:00:00|2026-04-01T02:00:00|IDLE+CLOUD+POWERED_DOWN|Powered down after SuspendTimeout",
        "n4|2026-04-01T01:00:00||IDLE~|Powered down after SuspendTimeout",
        "n5|2026-04-01T01:00:00|2026-04-01T02:00:00|MIX@|reboot",
        "n6|2026-04-01T01:00:00|2026-04-01T01:00:00|DOWN|blink",
        "|2026-04-01T01:00:00|2026-04-01T02:00:00||Cluster Registered TRES",
    )
    assert told(events) == [
        (3600, "drain", ("n1",)),
        (3600, "down", ("n2",)),
        (7200, "up", ("n1",)),
        (7200, "up", ("n2",)),
    ]
    assert events.notes == (
        "records of nodes that were off to save power, which a job wakes, left out: 2",
        "records of nodes in service (state MIX@) left out: 1",
        "records of 0 seconds left out: 1",
        "records of the cluster as a whole left out: 1",
    )


def test_a_reason_may_hold_quotes_and_bars_and_the_delimiter_may_be_another(tmp_path: Path) -> None:
    line = 'n1|2026-04-01T01:00:00|2026-04-01T02:00:00|DOWN|it "died|again'
    assert told(events_of(tmp_path, line)) == [(3600, "down", ("n1",)), (7200, "up", ("n1",))]
    head = "NodeName^TimeStart^TimeEnd^State^Reason"
    assert told(events_of(tmp_path, "n1^2026-04-01T01:00:00^^DOWN^x", head=head)) == [(3600, "down", ("n1",))]


def test_a_reason_with_the_delimiter_before_other_columns_is_refused(tmp_path: Path) -> None:
    line = "n1|2026-04-01T01:00:00|a|b|2026-04-01T02:00:00|DOWN"
    with pytest.raises(InputError, match="line 2: 6 columns instead of 5: a Reason holds the delimiter"):
        events_of(tmp_path, line, head="NodeName|TimeStart|Reason|TimeEnd|State")
