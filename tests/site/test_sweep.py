"""Which simulations a sweep over variants of a site makes, and what it takes over instead."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.site import import_site
from schedlab.site.sweep import Sweep
from schedlab.site.variant_task import variant_task
from schedlab.site.variants import Variant

CONF = """ClusterName=lab
SchedulerParameters=bf_interval=60
NodeName=n[1-2] CPUs=4
PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=1-0
"""


@pytest.fixture
def directory(tmp_path):
    """A site with forty jobs of an hour on eight processors, of which some wait."""
    (tmp_path / "slurm.conf").write_text(CONF)
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for number in range(40):
        hour, minute = number // 6, 10 * (number % 6)
        times = f"2026-04-01T{hour:02d}:{minute:02d}:00|2026-04-01T{hour:02d}:55:00|2026-04-01T{hour + 1:02d}:55:00"
        lines.append(f"{number + 1}|ann|COMPLETED|{times}|600|{number % 4 + 1}|batch")
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    return import_site(tmp_path, tmp_path / "jobs.txt").save(tmp_path / "site")


@pytest.mark.parametrize(
    ("variant", "simulations"),
    [
        (Variant("asked", ("KillWait=60",)), 1),
        (Variant("asked", ("PartitionName=batch MaxTime=24:00:00",)), 1),
        (Variant("asked", ("SchedulerParameters.bf_interval=30",)), 2),
        (Variant("asked", ("KillWait=60",), policy="saf"), 2),
        (Variant("asked", slurm="26.05"), 2),
    ],
)
def test_a_variant_that_changes_nothing_is_answered_by_the_simulation_of_the_site_as_it_is(
    directory, variant, simulations
):
    sweep = Sweep(directory, nodes=False)
    told = []
    assert sweep.run([variant], workers=1, progress=lambda *numbers: told.append(numbers)) == simulations
    assert told == [(1, 0, 2), (2, 0, 2)]
    task = variant_task(sweep.site, sweep.jobs, variant)
    answer = sweep.answer(variant)
    assert np.array_equal(answer.schedule.start_time, task.simulate(nodes=False)[0].start_time)
    assert answer.notes == task.notes
    assert sweep.run([variant], workers=1) == 0
