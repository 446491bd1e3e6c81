"""A site's twin beside the real Slurm with the site's own slurm.conf."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.engine.reference.simulate import simulate_plain
from schedlab.errors import InputError
from schedlab.site.validation import validate
from schedlab.slurm.installation import find_slurm, library
from schedlab.slurm.validation import rules_run_by

CONF = """
ClusterName=lab
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n[1-4] CPUs=1 RealMemory=1000
PartitionName=batch Nodes=ALL Default=YES MaxTime=60
"""
EVENT = "-dt {} -e submit_batch_job | -sim-walltime {} --uid=ann -n {} -t {} x.job"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "slurm.conf").write_text(CONF)
    # The hand case "rounded begin spares other nodes", and a job that no partition admits.
    jobs = [(25, 600, 2, 10), (26, 600, 3, 10), (27, 2000, 1, 60), (30, 60, 5, 10)]
    (tmp_path / "jobs.events").write_text("\n".join(EVENT.format(*job) for job in jobs) + "\n")
    return tmp_path


def test_one_phase_is_refused(site: Path):
    with pytest.raises(InputError, match="give two phases or more"):
        validate(site, site / "jobs.events", phases=1)


def test_the_twin_of_a_site_is_held_against_the_real_slurm(site: Path, monkeypatch: pytest.MonkeyPatch):
    try:
        library(find_slurm())
    except InputError as error:
        pytest.skip(str(error))
    machines = []

    def on_processors(jobs, scheduler, cluster, node_events):
        # Nodes of one core are processors, and nothing has to be compiled for these.
        machines.append(cluster)
        return simulate_plain(jobs, str(scheduler).removesuffix(",placement=consecutive"))

    monkeypatch.setattr("schedlab.slurm.validation.simulate", on_processors)
    found = validate(site, site / "jobs.events", phases=2)
    version = rules_run_by(None)
    ties = "ties=number," if version == "22.05" else ""  # the default of PriorityType
    assert found.scheduler == f"fcfs+slurm(tick=1,{ties}version={version}),placement=consecutive"
    assert {machine.processors for machine in machines} == {4}
    assert found.left_out[0] == "1 not started in every run"
    for group in (found.comparison.reference, found.comparison.groups["model"]):
        for schedule in group:
            waits = schedule.wait_time
            # The wide job waits for the first, the narrow one for a backfill pass at most.
            assert waits[0] <= 3
            assert 598 <= waits[1] <= 605
            assert waits[2] <= 33
