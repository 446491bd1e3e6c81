"""Copies of a site's jobs that differ by seconds: what they change is no effect."""

from __future__ import annotations

import re

import numpy as np
import pytest

import schedlab as sl
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.errors import InputError
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site import import_site
from schedlab.site.copies import (
    LONGEST_PASS,
    LOOPS,
    at_other_seconds,
    copies_of,
    once_text,
    perturbed,
    shift_of,
    usual_copies,
    with_pass_time,
)
from schedlab.site.samples import THE_LOG, SiteSample
from schedlab.site.site import read
from schedlab.site.variants import Variant, grid
from schedlab.site.what_if import what_if
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

CONF = """ClusterName=lab
SchedulerParameters=bf_interval=120
NodeName=n[1-8] CPUs=16
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-0
"""


def saved_site(directory, seed: int):
    """Save a site with 300 jobs of Lublin's model at a load of 95 %, which asks for about what jobs ask for."""
    rng = np.random.default_rng(seed)
    jobs = sl.model.tsafrir_estimates(sl.model.lublin(300, 128, rng=rng, load=0.95), rng=rng)
    when = [np.datetime64("2026-04-01", "s") + np.timedelta64(int(second), "s") for second in jobs.submit_time]
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for row, begin in enumerate(when):
        end, minutes = begin + int(jobs.run_time[row]), -(-int(jobs.requested_time[row]) // 60)
        user, cores = ("ann", "bob", "eve")[row % 3], jobs.job_processors[row]
        lines.append(f"{row + 1}|{user}|COMPLETED|{begin}|{begin}|{end}|{minutes}|{cores}|batch")
    directory.mkdir()
    (directory / "slurm.conf").write_text(CONF)
    (directory / "jobs.txt").write_text("\n".join(lines))
    return import_site(directory, directory / "jobs.txt").save(directory / "site")


def called_sure(directory, variants, copies):
    """Return of how many variants, and of how many groups in them, waits are said to change surely, and all of both."""
    ranked = what_if(directory, variants=variants, copies=copies, nodes=False, workers=1).ranking.ranked
    effects = [(one.kind == "all", one.verdict in ("wins", "pays")) for each in ranked for one in each.effects]
    return (
        sum(sure for every, sure in effects if every),
        sum(sure for every, sure in effects if not every),
        len(effects),
    )


def test_changes_that_only_move_passes_are_called_sure_in_one_of_twenty_cases_at_most(tmp_path):
    """A few seconds more or less between passes only move these, and with them thousands of seconds of single waits."""
    intervals = [str(seconds) for seconds in range(113, 128) if seconds != 120]
    variants = grid({"SchedulerParameters.bf_interval": intervals})
    sure = {1: np.zeros(3, dtype=int), 3: np.zeros(3, dtype=int)}
    for seed in (3, 4, 5):
        directory = saved_site(tmp_path / str(seed), seed)
        for copies in sure:
            sure[copies] += called_sure(directory, variants, copies)
    variants_sure, effects_sure, effects = sure[3]
    assert variants_sure <= 0.05 * 3 * len(variants)
    assert effects_sure <= 0.05 * effects
    assert sure[1][0] > 0.05 * 3 * len(variants)  # a single copy cannot tell


def test_an_effect_that_is_there_is_called_sure_and_its_copies_are_told(tmp_path):
    directory = saved_site(tmp_path / "lab", 4)
    found = what_if(directory, ["NodeName=n[9-16] CPUs=16"], nodes=False, workers=1)
    every = found.ranking.best.effects[0]
    assert every.verdict == "wins"
    assert every.copies[0] <= every.difference <= every.copies[1] < 0
    first, *others = found.sentences()
    assert re.search(r" would shorten the mean wait from [56]\.\d+ h to 2\d\.\d min\.$", first)
    assert "; copies: " in others[0]
    assert any("simulated 3 times" in told for told in others)
    single = what_if(directory, ["NodeName=n[9-16] CPUs=16"], copies=1, nodes=False, workers=1)
    assert any("simulated once" in told and "--copies 3 tells" in told for told in single.sentences())
    assert single.ranking.best.effects[0].copies is None


def test_both_sides_have_the_same_seconds_and_the_first_copy_has_those_of_the_record(tmp_path):
    directory = saved_site(tmp_path / "lab", 4)
    found = what_if(directory, ["SchedulerParameters.bf_interval=30"], nodes=False, workers=1)
    jobs = read(directory).replayable().jobs
    for copy in range(3):
        base, other = found.sweep.pair(found.ranking.best.variant, SiteSample(copy=copy))
        submit = [one.schedule.workload.submit_time for one in (base, other)]
        assert np.array_equal(*submit)
        assert np.array_equal(submit[0], jobs.submit_time) is (copy == 0)
    assert set(found.schedules) == {"as it is", "bf_interval=30"}
    assert found.ranking.samples == (THE_LOG,)


def test_jobs_of_a_copy_keep_their_order_and_come_a_second_later_at_most():
    rng = np.random.default_rng(1)
    submit = np.sort(rng.integers(0, 900, 400))
    jobs = Workload.from_columns(
        {"submit_time": submit, "run_time": [5] * 400, "requested_processors": [1] * 400, "requested_time": [9] * 400}
    )
    for copy in range(1, 20):
        moved = perturbed(jobs, copy).submit_time - shift_of(copy)
        assert (np.diff(moved) >= 0).all()
        assert set(moved - submit) == {0, 1}
        assert 0 <= shift_of(copy) < LOOPS
    assert len({shift_of(copy) for copy in range(1, 20)}) > 15


def test_components_of_a_heterogeneous_job_come_together():
    resources = Resources.of(4, het_job=["1", "1", "2", "2"], tasks=[1] * 4)
    jobs = Workload.from_columns(
        {"submit_time": [0, 0, 7, 7], "run_time": [5] * 4, "requested_processors": [1] * 4, "requested_time": [9] * 4}
    ).replace(resources=resources)
    for copy in range(1, 9):
        moved = perturbed(jobs, copy).submit_time
        assert moved[0] == moved[1]
        assert moved[2] == moved[3]


def test_node_events_come_as_much_later_as_the_jobs(tmp_path):
    site = read(saved_site(tmp_path / "lab", 4))
    events = NodeEvents((NodeEvent(100, "drain", ("n1",)),))
    for copy in (0, 3):
        variant = at_other_seconds(site, Variant("x", node_events=events), copy)[1]
        assert variant.node_events.events[0].second == 100 + shift_of(copy)


def test_passes_of_a_copy_take_some_seconds():
    scheduler = Scheduler.parse("fcfs+slurm(interval=60)")
    intervals = [with_pass_time(scheduler, copy).backfill.interval for copy in range(LONGEST_PASS + 2)]
    assert intervals == [60, 61, 62, 63, 64, 65, 61]
    assert with_pass_time(Scheduler.parse("fcfs+easy"), 2).text == "fcfs+easy"


def test_so_many_copies_are_simulated_as_fit_and_samples_need_none():
    """20,000 jobs on two sides, three times: 120,000; a hundred variants of them: six million."""
    assert [usual_copies(20_000, 1, 1), usual_copies(20_000, 100, 1), usual_copies(1000, 1, 6)] == [3, 1, 1]
    assert [one.copy for one in copies_of([THE_LOG], 3)] == [0, 1, 2]
    with pytest.raises(InputError, match="0 copies: give one or more"):
        copies_of([THE_LOG], 0)


def test_that_one_copy_is_simulated_as_three_would_be_too_many_jobs_is_said_when_it_begins():
    six = [SiteSample(seed=one) for one in range(6)]
    assert "as 3 would be more than 1,000,000 jobs in all" in once_text(None, [THE_LOG])
    assert once_text(None, copies_of([THE_LOG], 3)) == ""
    assert once_text(1, [THE_LOG]) == ""  # asked for
    assert once_text(None, six) == ""  # samples show what is chance
