"""What a worker leaves: rows of results with every measure, and a note of what it is at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from campaign_runs import MODEL, run_here, small, write_log

from schedlab.campaign.definition.instances import Instance
from schedlab.campaign.definition.plan import Batch, Settings, Task
from schedlab.campaign.run import worker
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.sources.input import Input
from schedlab.campaign.sources.trace import TraceEntry
from schedlab.engine.simulation import simulate


def test_a_row_has_the_metrics_of_the_schedule(tmp_path: Path) -> None:
    run = run_here(small(metrics={"warm_up": 0.1, "cool_down": 0.1, "tau": 60}), tmp_path)
    for position, row in enumerate(run.results().itertuples()):
        task = run.plan.task(position)[1]
        metrics = simulate(task.instance.jobs(), task.scheduler).metrics(warm_up=0.1, cool_down=0.1, tau=60)
        assert {name: getattr(row, name) for name in metrics} == metrics


def test_while_a_task_runs_a_note_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunDirectory(tmp_path)
    notes = []
    usual = worker.simulate_task

    def look(task: Task) -> object:
        notes.append([note.read_text().splitlines()[0] for note in run.files("inflight", "")])
        return usual(task)

    monkeypatch.setattr(worker, "simulate_task", look)
    done = run_here(small(), tmp_path)
    assert notes == [[done.plan.task(position)[0]] for position in range(4)]
    assert run.files("inflight", "") == []


def test_whom_to_blame_stands_in_the_notes_of_a_batch(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.create()
    instance = Instance(TraceEntry(trace="x"), Input("w", 0, "x", "ab", jobs=1, processors=8, windows=0))
    batch = Batch(Settings("batched", 0, 0, 10), ((instance, ("fcfs",)),))
    [(name, _)] = batch.tasks()
    (tmp_path / "inflight" / f"{batch.name}.host.7.ab12cd34").write_text(f"{name}\n\0\0Timeout (0:00:01)!\nStack")
    (tmp_path / "inflight" / f"{batch.name}.host.8.ab12cd35").write_text("")  # died before it began with a task
    (tmp_path / "inflight" / f"{'a7' * 16}.host.9.ab12cd36").write_text(f"{name}\n")
    assert worker.blamed(run, batch.name) == [(name, "Timeout (0:00:01)!\nStack")]
    assert [note.name for note in run.files("inflight", "")] == [f"{'a7' * 16}.host.9.ab12cd36"]


@pytest.mark.parametrize(("warm_up", "counted"), [(0, 95), (0.02, 95), (0.5, 50), (600, 95), (30_000, 50)])
def test_of_warm_up_and_state_the_longer_one_does_not_count(tmp_path: Path, warm_up: float, counted: int) -> None:
    log = write_log(tmp_path / "log.swf", 100)  # a job every 600 s
    workloads = [{"trace": str(log), "windows": {"length": "1d", "count": 1, "state": 5}}]
    run = run_here(small(workloads=workloads, metrics={"warm_up": warm_up}), tmp_path / "run")
    assert run.results().jobs.tolist() == [counted, counted]


def test_classes_without_jobs_have_no_means(tmp_path: Path) -> None:
    frame = run_here(small(workloads=[{**MODEL, "estimates": "exact"}]), tmp_path).results()
    # The model names no users.
    assert frame.jobs_heavy_users.tolist() == [0, 0]
    assert np.isnan(frame.mean_wait_heavy_users).all()
