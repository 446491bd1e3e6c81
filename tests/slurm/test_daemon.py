"""The slurmctld of a laboratory: a configuration that it refuses, early or late, is said in its own words."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import schedlab as sl
from schedlab.errors import InputError
from schedlab.slurm.configuration import machine_configuration
from schedlab.slurm.daemon import Daemon, LaboratoryError


def daemon(*, alive: bool) -> SimpleNamespace:
    return SimpleNamespace(alive=alive, refusal=lambda: InputError("slurmctld does not start with conf: why"))


def test_a_daemon_that_ends_behind_its_open_port_has_refused_its_configuration() -> None:
    with (
        pytest.raises(InputError, match=r"^slurmctld does not start with conf: why$"),
        Daemon.starting(
            daemon(alive=False)  # type: ignore[arg-type]
        ),
    ):
        raise LaboratoryError("slurmctld has no nodes")


def test_a_failure_while_it_runs_is_no_refusal() -> None:
    with pytest.raises(LaboratoryError, match="busy"), Daemon.starting(daemon(alive=True)):  # type: ignore[arg-type]
        raise LaboratoryError("slurmctld is still busy")


@pytest.mark.slow
def test_each_version_says_what_it_refuses_with_the_line_whenever_it_reads_it(slurm_version: str) -> None:
    jobs = sl.Workload.from_columns(
        {"submit_time": [0], "run_time": [5], "requested_time": [60], "requested_processors": [1]}, processors=4
    )
    configuration = machine_configuration(4, 1).having(NoSuchKey=5)
    with pytest.raises(InputError, match=r"^slurmctld does not start with .*NoSuchKey \(in the line: NoSuchKey=5\)$"):
        sl.slurm.run(jobs, conf=configuration, slurm=slurm_version)
