"""The jobs of an instance: made in the right order, the same for every scheduler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaign_runs import MODEL, run_here, small, write_log

from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.definition.instances import Instance
from schedlab.campaign.definition.plan import Plan
from schedlab.campaign.run import worker
from schedlab.errors import InputError
from schedlab.model.lublin_feitelson import lublin
from schedlab.model.tsafrir import tsafrir_estimates
from schedlab.schedule.provenance import input_sha256
from schedlab.workload.cleaning import clean
from schedlab.workload.files import read_workload, write_workload
from schedlab.workload.sampling import offered_load, resample_users, scale_load, windows
from schedlab.workload.workload import Workload


def instances(base: Path, **entry: Any) -> list[Instance]:
    campaign = small(workloads=[entry])
    return Plan(campaign, find_inputs(campaign, base)).instances


def assert_same_jobs(one: Workload, other: Workload) -> None:
    assert input_sha256(one) == input_sha256(other)
    assert one.processors == other.processors


def test_a_log_is_cleaned_then_resampled_then_scaled_then_cut(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.swf", jobs=3_000)
    cut = {"length": "1d", "count": 2, "state": 5}
    entry = {"trace": "a.swf", "clean": "flurry:1:0:86400", "resample": {"weeks": 2}, "load": [0.4, 0.6]}
    found = instances(tmp_path, **entry, windows=cut, repetitions=2)
    assert len(found) == 8
    for instance in found:
        assert instance.seed is not None
        assert instance.window is not None
        assert instance.load is not None
        jobs = clean(read_workload(log), "flurry:1:0:86400")
        jobs = resample_users(jobs, 2, rng=np.random.default_rng(instance.seed))
        jobs = scale_load(jobs, load=instance.load)
        assert offered_load(jobs) == pytest.approx(instance.load, rel=1e-3)
        assert_same_jobs(instance.jobs(), list(windows(jobs, 86_400, 5))[instance.window.number])


def test_a_model_draws_its_jobs_at_the_load_then_its_estimates() -> None:
    for instance in instances(Path(), **MODEL, load=[0.5, 0.9], repetitions=2):
        rng = np.random.default_rng(instance.seed)
        jobs = tsafrir_estimates(lublin(20, 16, rng=rng, load=instance.load), rng=rng)
        assert_same_jobs(instance.jobs(), jobs)


def test_exact_estimates_are_the_run_times() -> None:
    [instance] = instances(Path(), **MODEL, estimates="exact")
    jobs = instance.jobs()
    assert jobs.requested_time.tolist() == jobs.run_time.tolist()


def test_the_load_of_a_model_does_not_change_which_jobs_it_draws() -> None:
    low, high = (instance.jobs() for instance in instances(Path(), **MODEL, load=[0.5, 0.9]))
    assert low.run_time.tolist() == high.run_time.tolist()
    assert low.submit_time[-1] > high.submit_time[-1]


def test_requests_and_processors_are_what_the_entry_says(tmp_path: Path) -> None:
    write_log(tmp_path / "a.swf")
    for requests, enforced in (("enforced", True), ("advisory", False)):
        [instance] = instances(tmp_path, trace="a.swf", requests=requests, processors=64, name="mine")
        jobs = instance.jobs()
        assert (jobs.requests_enforced, jobs.processors, jobs.name) == (enforced, 64, "mine")


def write_chain(path: Path) -> None:
    """Write a log of five jobs, each but the first and the fourth 7 seconds after the one before it."""
    columns = {
        "submit_time": [0, 10, 20, 90_000, 90_010],
        "run_time": [60] * 5,
        "requested_processors": [1] * 5,
        "preceding_job_id": [-1, 1, 2, -1, 4],
        "think_time": [-1, 7, 7, -1, 7],
    }
    write_workload(Workload.from_columns(columns, processors=4), path)


def test_jobs_wait_for_preceding_ones_only_if_the_entry_says_so(tmp_path: Path) -> None:
    write_chain(tmp_path / "a.swf")
    [instance] = instances(tmp_path, trace="a.swf", dependencies="none")
    assert instance.jobs().dependencies is None
    assert instances(tmp_path, trace="a.swf") == [instance]
    cut = instances(tmp_path, trace="a.swf", dependencies="preceding", windows={"length": "1d", "count": 2})
    waits = [window.jobs().dependencies for window in cut]
    assert [after.parents.tolist() for after in waits if after] == [[0, 1], [0]]
    assert [after.delay.tolist() for after in waits if after] == [[7, 7], [7]]


def test_who_waits_for_whom_is_part_of_what_a_simulation_is(tmp_path: Path) -> None:
    write_chain(tmp_path / "a.swf")
    schedulers = ["fcfs", "saf+easy"]
    makespans = {}
    for choice in ("none", "preceding"):
        entry = {"trace": "a.swf", "dependencies": choice}
        run = run_here(small(name=choice, schedulers=schedulers, workloads=[entry]), tmp_path / choice, base=tmp_path)
        makespans |= {row.task: row.mean_wait for row in run.results().itertuples()}
    assert len(makespans) == 4
    # Waiting in the queue counts from the end of the preceding job and its think time on: nobody waits for processors.
    assert all(wait == 0 for wait in makespans.values())


def test_a_log_whose_jobs_wait_in_a_circle_is_refused(tmp_path: Path) -> None:
    write_chain(tmp_path / "a.swf")
    jobs = read_workload(tmp_path / "a.swf")
    write_workload(jobs.replace(preceding_job_id=[3, 1, 2, -1, -1]), tmp_path / "a.swf")
    with pytest.raises(InputError, match=r"the jobs in rows 0, 1, 2 depend on each other in a cycle"):
        instances(tmp_path, trace="a.swf", dependencies="preceding")


def test_what_is_made_does_not_depend_on_what_was_made_before(tmp_path: Path) -> None:
    write_log(tmp_path / "a.swf", jobs=3_000)
    windows = {"length": "4d", "count": 2}
    found = instances(tmp_path, trace="a.swf", resample=True, repetitions=2, load=[0.4, 0.6], windows=windows)
    forwards = [input_sha256(instance.jobs()) for instance in found]
    backwards = [input_sha256(instance.jobs()) for instance in reversed(found)]
    assert forwards == backwards[::-1]
    assert len(set(forwards)) == 8


def test_every_scheduler_gets_the_same_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[tuple[str, int], list[str]] = {}
    original = worker.simulate_task

    def recording(task: Any) -> Any:
        schedule = original(task)
        key = (task.instance.workload, task.instance.repetition)
        seen.setdefault(key, []).append(input_sha256(schedule.workload))
        return schedule

    monkeypatch.setattr(worker, "simulate_task", recording)
    write_log(tmp_path / "a.swf", jobs=3_000)
    entries = [{**MODEL, "repetitions": 3}, {"trace": "a.swf", "resample": True, "repetitions": 3}]
    run_here(small(schedulers=["fcfs", "easy", "saf+easy"], workloads=entries), tmp_path / "run", base=tmp_path)
    assert len(seen) == 6
    assert all(len(jobs) == 3 and len(set(jobs)) == 1 for jobs in seen.values())
    assert len({jobs[0] for jobs in seen.values()}) == 6, "repetitions differ"


def test_a_log_that_has_changed_or_gone_since_the_plan_was_made_is_refused(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.swf")
    [before] = instances(tmp_path, trace="a.swf")
    write_log(log, jobs=61)
    with pytest.raises(InputError, match=r"a\.swf has changed since the campaign was planned; run the campaign again"):
        before.jobs()
    log.unlink()
    with pytest.raises(InputError, match=r"a\.swf"):
        before.jobs()


def test_a_window_that_a_repetition_does_not_have_is_refused() -> None:
    last = instances(Path(), **MODEL, windows={"length": "52w", "count": 2})[-1]
    with pytest.raises(InputError, match="lublin: has only 1 windows: lower count"):
        last.jobs()


def test_how_a_log_is_read_is_said_by_keys_that_are_called_like_the_options(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "created,took,cores,queue\n2024-06-01 12:00:00,60,2,gpu\n2024-06-01 12:01:00,60,2,cpu\nwhen,60,2,gpu\n"
        + "".join(f"2024-06-01 13:{minute:02}:00,60,2,gpu\n" for minute in range(60))
    )
    columns = {"submit_time": "created", "run_time": "took", "requested_processors": "cores", "partition": "queue"}
    entry = {"trace": "a.csv", "processors": 4, "column": columns, "lenient": True, "timezone": "Europe/Stockholm"}
    [instance] = instances(tmp_path, **entry, partition="gpu", default_limit="2h", clean="none")
    jobs = instance.jobs()
    assert (len(jobs), set(jobs.requested_time.tolist())) == (61, {7_200})
    source = instance.specification()["source"]
    assert source["partition"] == ("gpu",)
    assert source["lenient"] is True
    [other] = instances(tmp_path, **entry, clean="none")
    assert other.specification()["source"].keys() >= {"column", "timezone"}
    assert not other.specification()["source"].keys() & {"partition", "default_limit"}
