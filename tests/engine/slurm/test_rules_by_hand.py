"""Parameters that decide who waits for whom in a pass, held against a real slurmctld.

The expectations in `conformance/slurm-rules.json` are Slurm's starts in five phases of its loops (see
`conformance/README.md`); who waits for whom makes a difference of minutes. The configurations go through the import of
sites. Slurm notices an end with its next tick, a second later, and puts a main pass off by up to three seconds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from schedlab.engine import simulate
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.errors import InputError
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.importing import import_site

sys.path.append(str(Path(__file__).parents[2] / "slurm"))
from rules_on_slurm import CASES, elements_in_order, events_of, write_case

RECORDED = json.loads(CASES.read_text(encoding="utf-8"))
TICK, DELAY = 1, 3


def replayed(jobs, scheduler, **machine):
    """Simulate with the reference."""
    return replay(prepare(jobs, scheduler, **machine))


def modelled(engine, case, directory, version="22.05"):
    """Return the starts of the model of the site, which notices ends a tick later."""
    site = import_site(directory, write_case(case, directory), slurm=version)
    jobs = site.jobs.replace(requests_enforced=False)
    events = None if "events" not in case else events_of(case)
    begin = int(jobs.submit_time.min()) - case["jobs"][0][1]
    starts = engine(jobs, site.scheduler, cluster=site.cluster, node_events=events).start_time - begin
    return np.array(elements_in_order(case, starts.tolist()))


@pytest.mark.parametrize("engine", [simulate, replayed], ids=["compiled", "plain"])
@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["name"])
def test_jobs_wait_for_those_for_which_they_waited_on_real_slurm(case, engine, tmp_path):
    found = modelled(engine, case, tmp_path)
    near = [np.abs(found - np.array(starts)).max() <= TICK + DELAY for starts in case["starts"]]
    assert any(near) is ("differs" not in case), found.tolist()


def test_there_are_enough_cases_and_few_differ():
    assert len(RECORDED) >= 30
    assert sum("differs" in case for case in RECORDED) <= 2


def test_a_priority_to_reserve_needs_priorities():
    with pytest.raises(InputError, match=r"reserve_priority=5 does not go with fcfs: priorities are those of multif"):
        Scheduler.parse("fcfs+slurm(reserve_priority=5)")
    assert Scheduler.parse("multifactor(size=9)+slurm(bf_min_prio_reserve=5)").backfill.reserve_priority == 5
