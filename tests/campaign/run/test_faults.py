"""Thirty kills, of workers and of the coordinator, cost time and nothing else."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from campaign_runs import children_of, in_process, python, same_results, small, wait_until

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.campaign.run.directory import RunDirectory

KILLS = 30
TASKS = 2_000
DEFINITION = {
    "name": "faults",
    "schedulers": ["fcfs", "easy", "saf+easy", "fcfs+conservative"],
    "workloads": [{"generate": "lublin", "jobs": 400, "processors": 64, "load": 1.1, "repetitions": TASKS // 4}],
}

COORDINATOR = f"""
import sys
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.campaign.definition.campaign import Campaign
if __name__ == "__main__":
    run_campaign(Campaign.model_validate({DEFINITION!r}), sys.argv[1], workers=2)
"""


@pytest.mark.slow
def test_a_campaign_survives_thirty_kills_of_workers_and_coordinator(tmp_path: Path) -> None:
    (tmp_path / "coordinator.py").write_text(COORDINATOR)
    code = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    choice = random.Random(7)
    run = RunDirectory(tmp_path / "disturbed")
    # Compiled now: a task whose workers die three times in a row is given up, and compilation takes long.
    run_campaign(small(schedulers=DEFINITION["schedulers"]), tmp_path / "compile", workers=1)
    kills = 0
    seen: set[int] = set()
    progress = []
    while kills < KILLS:
        with python(code, tmp_path / "coordinator.py", run.path) as coordinator:
            while kills < KILLS and coordinator.poll() is None:
                time.sleep(choice.uniform(0.05, 0.3))
                seen |= set(children_of(coordinator.pid))
                at_work = run.files("inflight", "")
                # Who is only starting has nothing to lose; and some work must get done between the kills.
                if not at_work or len(run.files("results", ".parquet")) < kills // 2:
                    continue
                worker = int(choice.choice(at_work).name.split(".")[-2])
                with suppress(ProcessLookupError):
                    os.kill(coordinator.pid if choice.random() < 0.3 else worker, signal.SIGKILL)
                    kills += 1
                    progress.append(len(run.files("results", ".parquet")))
            assert kills == KILLS or coordinator.poll() != 0, "the campaign was over before all kills had happened"
    wait_until(lambda: not any(Path(f"/proc/{process}").exists() for process in seen))

    # A task at which three processes happened to be killed was given up, as it should be; it is tried again.
    assert {failure.kind for failure in run.failures().values()} <= {"died"}
    finished = run_campaign(Campaign.model_validate(DEFINITION), run.path, workers=2, retry_failed=True)
    assert finished.status().done == TASKS
    assert (finished.status().failed, finished.status().corrupt, finished.status().running) == (0, 0, 0)
    assert len(set(progress)) > 5  # the kills hit different moments of the campaign
    files = run.files("results", ".parquet")
    names = np.concatenate([pq.read_table(file, columns=["task"]).column("task").to_numpy() for file in files])
    assert len(names) == len(set(names)) == TASKS  # nothing was kept twice

    undisturbed = run_campaign(Campaign.model_validate(DEFINITION), tmp_path / "undisturbed", workers=in_process())
    same_results(finished.results(), undisturbed.results())


COLD = """
import sys
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.campaign.definition.campaign import Campaign
if __name__ == "__main__":
    workloads = [{"generate": "lublin", "jobs": 50, "processors": 16, "repetitions": 32}]
    campaign = Campaign(name="cold", schedulers=["fcfs"], workloads=workloads)
    print(run_campaign(campaign, sys.argv[1], workers=4).status().done)
"""


@pytest.mark.slow
def test_many_workers_may_compile_at_once_into_an_empty_cache(tmp_path: Path) -> None:
    (tmp_path / "cold.py").write_text(COLD)
    code = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    environment = os.environ | {"SCHEDLAB_CACHE": str(tmp_path / "kernels")}
    with python(code, tmp_path / "cold.py", tmp_path / "run", env=environment, stdout=subprocess.PIPE) as coordinator:
        assert coordinator.communicate(timeout=900)[0] == "32\n"
    assert list((tmp_path / "kernels").rglob("*.kernel")), "the kernels were kept elsewhere"
    assert RunDirectory.open(tmp_path / "run").status().failed == 0
