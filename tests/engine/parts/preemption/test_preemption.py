"""Jobs that take the place of others that run: the engine, its reference, and what must always hold.

The random comparison runs the engine as plain Python: the same code without compilation.
"""

from __future__ import annotations

import sys
from random import Random

import numpy as np
import pytest
from features import GROUPS
from node_cases import prepared_rows, random_nodes, rows_of
from node_comparison import compare_on_nodes
from plain_process import number_printed
from random_seeds import one_in, seeds
from site_cases import random_site
from test_node_events import assert_node_events_hold, random_events

from schedlab.engine.parts.outages.numbers import outage_inputs
from schedlab.engine.parts.preemption.numbers import PreemptionInputs
from schedlab.scheduler.backfilling import Conservative

STEPS = {"none": 3, "easy": 2, "easy:ORDER": 6, "conservative": 5, "slurm": 5, "slurm, every event": 5}
"""How far apart the features are that are compared, by backfilling; all of them with a number of seeds by hand."""

TIERS = 4
"""Of partitions at most; a job that may be in several tries the highest first."""

ENDLESS = 800
"""Seconds after the last submission: then, jobs are taken to preempt each other for ever.

A job need not get the place that it has cleared, for another one may be before it in the queue, and give way in turn.
"""

FEATURES = [(), *((feature,) for group in GROUPS for feature in group if feature != "pyss")]


def random_preemption(site, random, case, owner):
    """Return who gives way to whom: by the tiers of partitions, or at random by classes of jobs (QOS).

    `owner` numbers the job of each row: the alternatives of a moldable job have its QOS.
    """
    tier = site.tier.tolist()
    by_tier = random.random() < 0.6
    if by_tier:
        classes, of_option = len(tier) + 1, site.option_partition
        common = site.nodes.astype(int) @ site.nodes.T.astype(int) > 0
        may = [[tier[i] > tier[j] and common[i, j] for j in range(len(tier))] + [False] for i in range(len(tier))]
        may.append([False] * classes)
    else:
        classes = random.randint(2, 4)
        lengths = np.diff(site.option_offset)
        qos = np.array([random.randrange(classes) for _ in lengths])
        of_option = np.repeat(qos[[owner.index(one) for one in owner]], lengths)
        may = [[j < i and random.random() < 0.7 for j in range(classes)] for i in range(classes)]
    suspends = [by_tier and random.random() < 0.5 for _ in range(classes)]
    if isinstance(case.scheduler.backfill, Conservative):
        suspends = [False] * classes
    leaves = [random.random() < 0.9 for _ in range(classes)]
    may = np.array(may) & np.array(leaves)
    return PreemptionInputs(
        may=may,
        ahead=may & (not by_tier),
        cancels=np.array([random.random() < 0.3 for _ in range(classes)]),
        suspends=np.array(suspends),
        grace=np.array([0 if stands else random.choice([0, 0, 3, 20]) for stands in suspends]),
        exempt=np.array([0 if stands else random.choice([0, 0, 5, 30]) for stands in suspends]),
        rank=np.array([*tier, 0] if any(suspends) else [random.randint(0, 3) for _ in range(classes)]),
        of_option=of_option.astype(np.int64),
        delay=random.choice([1, 5, 50]),
        youngest=random.random() < 0.2,
        reorder=random.randint(0, 2),
    )


def prepared_with(workload, case, options, seed):
    """Return a simulation on random nodes and partitions with preemption, ready to run, and its node events."""
    random = Random(seed)
    rows = rows_of(workload)
    nodes, site = random_site(rows, random_nodes(rows, random, scheduler=case.scheduler), random, TIERS)
    prepared = prepared_rows(workload, case.scheduler, fails=case.fails, **options)
    owner = range(len(rows)) if prepared.spread is None else prepared.in_submission_order(prepared.spread.owner)
    preemption = random_preemption(site, random, case, list(owner))
    events, outages = (), None
    if random.random() < 0.3:
        first, last = int(workload.submit_time.min()), int((workload.submit_time + workload.run_time).max())
        events = random_events(list(nodes.names), first, last, random)
        outages = outage_inputs(events, nodes, int(prepared.jobs["submit"][0]))
    return prepared._replace(nodes=nodes, limits=site, preemption=preemption, outages=outages), events


def check(backfilling, features, seed):
    """Compare the engine with its reference, and look at the schedule; return how many runs had to give way."""
    # Known: of a moldable job, the reference sometimes says Priority where the engine says Resources.
    reasons = "alternatives" not in features
    found = compare_on_nodes(backfilling, features, seed, prepared_with, patience=ENDLESS, reasons=reasons)
    if found is None or found.schedule is None:
        return 0
    assert_node_events_hold(found)
    schedule = found.schedule
    return len(schedule.runs) - len(schedule) + (0 if schedule.pauses is None else len(schedule.pauses))


@pytest.mark.parametrize("backfilling", one_in(2, STEPS))
def test_the_engine_with_preemption_equals_its_twin(backfilling):
    assert number_printed(__file__, backfilling) >= 5, "hardly anybody gave way"


if __name__ == "__main__":
    by_hand = len(sys.argv) > 2
    compared, count = (FEATURES, int(sys.argv[2])) if by_hand else (FEATURES[:: STEPS[sys.argv[1]]], 6)
    print(sum(check(sys.argv[1], features, seed) for features in compared for seed in seeds(count)))
