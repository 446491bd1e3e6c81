"""Random malleable jobs under random passes: the engine decides as its reference, and work is conserved."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from malleable_cases import MACHINE, Restless, drawn_jobs
from random_seeds import seeds

from schedlab.engine import simulate
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.errors import InputError
from schedlab.scheduler import Scheduler

POLICIES = ("fcfs", "saf", "wfp3", "sqf@actual")


def scheduler_of(seed):
    policy = POLICIES[seed % len(POLICIES)]
    name, _, runtimes = policy.partition("@")
    decider = "malleable" if seed % 3 == 0 else Restless(seed)
    return Scheduler(name, decider, **({"runtimes": runtimes} if runtimes else {}))


def jobs_of(seed):
    return drawn_jobs(seed, linked=seed % 5 == 1, cancelled=seed % 7 == 2)


def outcome(simulator, seed):
    options = {"in_order": 3} if seed % 11 == 4 else {}
    try:
        return simulator(jobs_of(seed), scheduler_of(seed), **options)
    except InputError as error:
        return str(error).partition(":")[0]


@pytest.mark.parametrize("block", range(4))
def test_the_engine_resizes_as_its_reference(block):
    for seed in list(seeds(200))[block::4]:
        ours, plain = outcome(simulate, seed), outcome(simulate_plain, seed)
        assert isinstance(ours, str) == isinstance(plain, str), (seed, ours, plain)
        if not isinstance(ours, str):
            for name in ("start_time", "end_time", "killed", "backfilled", "sizes"):
                np.testing.assert_array_equal(getattr(ours, name), getattr(plain, name), f"seed {seed}, {name}")


@pytest.mark.parametrize("block", range(4))
def test_work_is_conserved_sizes_are_those_of_the_job_and_the_machine_is_never_overfull(block):
    for seed in list(seeds(200))[block::4]:
        schedule = outcome(simulate, seed)
        if isinstance(schedule, str):
            continue
        jobs, lengths = jobs_of(seed), all_lengths(jobs_of(seed))
        done, changes, last = {}, {}, {}
        for job, start, end, size in schedule.sizes.tolist():
            assert size in lengths[job], seed
            done[job] = done.get(job, 0) + Fraction(end - start, lengths[job][size])
            changes[job] = [*changes.get(job, []), size]
            last[job] = end
        for job, share in done.items():
            # Each change rounds up by less than a second at the new size.
            over = sum((Fraction(1, lengths[job][size]) for size in changes[job][1:]), Fraction(0))
            assert 1 <= share <= 1 + over, (seed, job)
            assert share < 1 + over or over == 0
            assert last[job] == schedule.end_time[job]
        never_overfull(schedule)
        assert (schedule.start_time >= jobs.submit_time).all()


def all_lengths(jobs):
    """How long each job runs with each size, worked out from its row alone."""
    texts, found = jobs.alternatives.texts(), []
    for row, text in enumerate(texts):
        own = int(jobs.requested_processors[row]), int(jobs.run_time[row])
        sizes = [own, *(tuple(map(int, word.split("x"))) for word in text.split() if word != "malleable")]
        asked = int(jobs.requested_time[row])
        scaled = {size: -(-asked * lasts // own[1]) for size, lasts in sizes}
        limited = {size: min(lasts, scaled[size]) if jobs.requests_enforced else lasts for size, lasts in sizes}
        found.append({size: lasts for size, lasts in limited.items() if size <= MACHINE})
    return found


def never_overfull(schedule):
    seconds = np.concatenate([schedule.sizes["end"], schedule.sizes["start"]])
    change = np.concatenate([-schedule.sizes["processors"], schedule.sizes["processors"]])
    assert np.cumsum(change[np.argsort(seconds, kind="stable")]).max(initial=0) <= MACHINE
