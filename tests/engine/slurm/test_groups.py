"""Groups of ends of running jobs, worked out by hand from BACKFILL_INTERVAL of select/cons_tres, 30 s."""

from __future__ import annotations

from collections import namedtuple

from schedlab.engine.jobs.calendar import new_calendar
from schedlab.engine.slurm import groups as kernels
from schedlab.engine.slurm.groups import GROUPS
from schedlab.kernels import for_python, new_records

begin_groups, open_group, leave_group = map(for_python, (kernels.begin_groups, kernels.open_group, kernels.leave_group))
Rules = namedtuple("Rules", "grouped origin")


def groups_of(ends: list[int], rules: Rules) -> list[list[int]]:
    """Return ends, soonest first, in their groups."""
    groups, found = new_records(1, GROUPS)[0], []
    begin_groups(groups, new_calendar(1), 0)
    for end in ends:
        if open_group(groups, rules, end) or leave_group(groups, rules, end):
            found.append([])
        found[-1].append(end)
    return found


def test_a_group_is_over_at_its_edge_and_later_ones_are_wider():
    """The first end, 40, lies in the slot of seconds 30 to 59, so that the edge is 60; windows of 30, 60, 120 s."""
    ends = [40, 90, 91, 120, 121, 150, 151, 180, 181]
    assert groups_of(ends, Rules(True, 0)) == [[40, 90], [91, 120], [121, 150, 151, 180], [181]]


def test_groups_without_an_end_are_passed_over():
    """Windows of 30, 60, 120 and 240 s behind the edge at 60: the end at 250 is in the last, up to 300."""
    assert groups_of([40, 250, 300, 301], Rules(True, 0)) == [[40], [250, 300], [301]]


def test_the_slots_of_the_first_group_begin_at_the_origin():
    """With the origin at 5, the end at 40 is in the slot of seconds 35 to 64: the edge is 65, the group ends at 95."""
    assert groups_of([40, 95, 96], Rules(True, 5)) == [[40, 95], [96]]


def test_without_grouping_each_end_is_a_group():
    assert groups_of([40, 41], Rules(False, 0)) == [[40], [41]]
