from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import campaign_samples as samples
import numpy as np
import pandas as pd
import pytest
from fake_slurm import FakeSlurm
from hypothesis import given
from hypothesis import strategies as st

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.definition.plan import Plan
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.job_arrays import Submission, active, positions, ranges, settle
from schedlab.campaign.run.slurm import deal, run_element, submit
from schedlab.errors import InputError, OutputError


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    fake = FakeSlurm(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{fake.directory}{os.pathsep}{os.environ['PATH']}")
    return fake


def long_campaign() -> Campaign:
    """Return a campaign whose simulations are long enough to be interrupted: 2 x 6 x 3."""
    model = {"generate": "lublin", "jobs": 4000, "processors": 64, "load": [0.7, 0.9], "repetitions": 6}
    return Campaign(name="long", schedulers=["fcfs", "easy", "fcfs+conservative"], workloads=[model])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return run_campaign(long_campaign(), tmp_path_factory.mktemp("local"), workers=2).results()


def assert_same(run: RunDirectory, expected: pd.DataFrame) -> None:
    """Fail unless all results are there, once each, and equal in every bit but how long they took."""
    rows = [path for path, _ in run.contents("results", ".parquet")]
    assert sum(len(pd.read_parquet(path)) for path in rows) == len(expected)
    pd.testing.assert_frame_equal(
        run.results().drop(columns="seconds"), expected.drop(columns="seconds"), check_exact=True
    )


def plan_of(campaign: Campaign) -> Plan:
    return Plan(campaign, find_inputs(campaign, Path()))


def wait_for_results(run: RunDirectory, number: int) -> None:
    deadline = time.monotonic() + 60
    while len(run.files("results", ".parquet")) < number:
        assert time.monotonic() < deadline
        time.sleep(0.002)


# What is submitted


@given(st.sets(st.integers(0, 60), min_size=1))
def test_ranges_say_which_positions_a_batch_has(numbers: set[int]) -> None:
    ascending = np.array(sorted(numbers), dtype=np.intp)
    assert positions(ranges(ascending)).tolist() == ascending.tolist()


@given(st.sets(st.integers(0, 59), min_size=1), st.none() | st.integers(1, 70), st.integers(1, 70))
def test_every_pending_task_is_dealt_to_one_element_of_a_permitted_array(
    pending: set[int], wanted: int | None, limit: int
) -> None:
    parts, elements = deal(PLAN_OF_60, np.array(sorted(pending), dtype=np.intp), wanted, limit)
    assert 1 <= elements <= min(limit, wanted or limit)
    submission = Submission("x", "", len(pending), elements, tuple(map(ranges, parts)))
    shares = [submission.share(element) for element in range(elements)]
    assert all(shares)
    assert sorted(np.concatenate([part for share in shares for part in share]).tolist()) == sorted(pending)


PLAN_OF_60 = plan_of(
    Campaign(
        name="sixty",
        schedulers=["fcfs", "easy", "saf"],
        workloads=[{"generate": "lublin", "jobs": 10, "processors": 8, "repetitions": 20}],
    )
)


def test_more_batches_than_slurm_allows_elements_make_longer_shares(slurm: FakeSlurm, tmp_path: Path) -> None:
    # So many jobs are a batch of their own.
    model = {"generate": "lublin", "jobs": 5_000_000, "processors": 64, "repetitions": 1500}
    campaign = Campaign(name="large", schedulers=["fcfs"], workloads=[model])
    submission = submit(campaign, tmp_path / "run")
    # Indices are below MaxArraySize, 1001.
    assert slurm.job(submission.job)["options"]["array"] == "0-1000"
    assert [len(submission.share(element)) for element in range(1001)] == [2] * 499 + [1] * 502


def test_without_scontrol_an_array_is_as_large_as_slurm_allows_by_default(slurm: FakeSlurm, tmp_path: Path) -> None:
    (slurm.directory / "scontrol").write_text("#!/bin/sh\nexit 1\n")
    model = {"generate": "lublin", "jobs": 5_000_000, "processors": 64, "repetitions": 1500}
    campaign = Campaign(name="large", schedulers=["fcfs"], workloads=[model])
    assert submit(campaign, tmp_path / "run").elements == 1001
    assert submit(campaign, tmp_path / "other", elements=5000, max_array_size=7).elements == 7


def test_options_reach_sbatch_but_the_name_and_the_indices_are_ours(slurm: FakeSlurm, tmp_path: Path) -> None:
    options = ["--time=2:00:00", "--array=0-99", "--job-name=mine", "--output=here.log"]
    submission = submit(samples.campaign(), tmp_path / "run", elements=2, options=options)
    passed = slurm.job(submission.job)["options"]
    assert (passed["time"], passed["output"]) == ("2:00:00", "here.log")
    assert (passed["array"], passed["job-name"]) == ("0-1", submission.name)
    assert str(submission) == f"Slurm job 101 ({submission.name}): 8 simulations in 2 array elements"


def test_a_finished_campaign_submits_nothing(slurm: FakeSlurm, tmp_path: Path) -> None:
    run = samples.finished_run(tmp_path)
    submission = submit(samples.campaign(), run.path)
    assert (submission.tasks, submission.elements, submission.job) == (0, 0, "")
    assert "nothing was submitted" in str(submission)
    assert not list(slurm.directory.glob("job-*"))


def test_only_what_is_missing_is_submitted(slurm: FakeSlurm, tmp_path: Path) -> None:
    run = samples.finished_run(tmp_path, left_out=[2, 3, 6], failed=[7])
    submission = submit(samples.campaign(), run.path, elements=1)
    assert sorted(np.concatenate(submission.share(0)).tolist()) == [2, 3, 6]
    slurm.end(submission.job, 0)
    again = submit(samples.campaign(), run.path, elements=1, retry_failed=True)
    assert sorted(np.concatenate(again.share(0)).tolist()) == [2, 3, 6, 7]


# Refusals


def test_what_sbatch_refuses_is_said_in_its_words_and_leaves_nothing(slurm: FakeSlurm, tmp_path: Path) -> None:
    slurm.refuse("Batch job submission failed: Invalid partition name specified")
    with pytest.raises(InputError, match=r"^sbatch failed: .* Invalid partition name specified$"):
        submit(samples.campaign(), tmp_path / "run")
    assert not list((tmp_path / "run" / "slurm").iterdir())


def test_a_host_without_slurm_is_told_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"^sbatch cannot be run here: No such file or directory$"):
        submit(samples.campaign(), tmp_path / "run")


def test_nobody_runs_a_campaign_while_its_elements_are_queued(slurm: FakeSlurm, tmp_path: Path) -> None:
    submission = submit(samples.campaign(), tmp_path / "run", elements=3)
    slurm.end(submission.job, 1)
    facts = (tmp_path / "run" / "campaign.json").read_bytes()
    assert active(RunDirectory(tmp_path / "run")) == {submission.job: 2}
    with pytest.raises(InputError, match=r"in use by Slurm job 101 \(.* wait or run: 2\); .* scancel 101$"):
        submit(samples.campaign(), tmp_path / "run")
    with pytest.raises(InputError, match="in use by Slurm job 101"):
        run_campaign(samples.campaign(seed=2), tmp_path / "run", workers=1)
    assert (tmp_path / "run" / "campaign.json").read_bytes() == facts


def test_a_submission_is_forgotten_when_slurm_has_nothing_left_of_it(slurm: FakeSlurm, tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    submission = submit(samples.campaign(), run.path, elements=1)
    slurm.end(submission.job, 0)
    settle(run)
    assert not list((run.path / "slurm").iterdir())
    (slurm.directory / "squeue").unlink()
    assert active(run) == {}


def test_where_slurm_cannot_be_asked_a_queued_campaign_is_left_alone(slurm: FakeSlurm, tmp_path: Path) -> None:
    submission = submit(samples.campaign(), tmp_path / "run", elements=1)
    (slurm.directory / "squeue").write_text("#!/bin/sh\necho 'Unable to contact slurm controller' >&2; exit 1\n")
    with pytest.raises(InputError, match=r"squeue failed: Unable to contact slurm controller.* remove .*/slurm if"):
        settle(RunDirectory(tmp_path / "run"))
    assert submission.file(RunDirectory(tmp_path / "run")).exists()


def test_an_element_refuses_a_campaign_that_has_changed(slurm: FakeSlurm, tmp_path: Path) -> None:
    submission = submit(samples.campaign(), tmp_path / "run")
    changed = samples.finished_run(tmp_path / "other", samples.campaign(seed=2))
    (changed.path / "campaign.json").replace(tmp_path / "run" / "campaign.json")
    with pytest.raises(InputError, match=r"the campaign has changed since small-.* was submitted"):
        run_element(RunDirectory(tmp_path / "run"), submission.name, 0)
    with pytest.raises(InputError, match=r"cannot read .*nonsense\.json: no such file"):
        run_element(RunDirectory(tmp_path / "run"), "nonsense", 0)


# Elements at work


@pytest.mark.slow
def test_an_array_gives_the_results_of_a_local_run(slurm: FakeSlurm, tmp_path: Path, undisturbed: pd.DataFrame) -> None:
    submission = submit(long_campaign(), tmp_path / "run", max_array_size=3)
    assert submission.elements == 3
    slurm.run(submission.job)
    run = RunDirectory(tmp_path / "run")
    assert_same(run, undisturbed)
    assert not run.files("inflight", "")


@pytest.mark.slow
def test_a_killed_element_costs_only_its_own_tasks_and_the_next_submission_does_them(
    slurm: FakeSlurm, tmp_path: Path, undisturbed: pd.DataFrame
) -> None:
    run = RunDirectory(tmp_path / "run")
    submission = submit(long_campaign(), run.path, elements=2)
    element = slurm.start(submission.job, 0)
    wait_for_results(run, 2)
    os.killpg(element.pid, signal.SIGKILL)
    element.communicate()
    slurm.end(submission.job, 0)
    slurm.run(submission.job)

    missing = np.flatnonzero(~run.done())
    killed = np.concatenate(submission.share(0))
    assert 0 < len(missing) < len(killed)
    assert set(missing) <= set(killed)

    again = submit(long_campaign(), run.path, elements=1)
    assert sorted(np.concatenate(again.share(0)).tolist()) == missing.tolist()
    slurm.run(again.job)
    assert_same(run, undisturbed)


@pytest.mark.slow
def test_an_element_whose_time_is_up_ends_its_batches_and_begins_no_more(
    slurm: FakeSlurm, tmp_path: Path, undisturbed: pd.DataFrame
) -> None:
    run = RunDirectory(tmp_path / "run")
    submission = submit(long_campaign(), run.path, elements=1)
    element = slurm.start(submission.job, 0, SLURM_CPUS_PER_TASK="2")
    wait_for_results(run, 2)
    element.send_signal(signal.SIGTERM)
    _, errors = element.communicate()
    assert (element.returncode, errors) == (0, "")
    assert not run.files("inflight", "")
    done = int(run.done().sum())
    assert 2 <= done < len(undisturbed)

    # Slurm may start it again: it goes on where it was.
    before = run.files("results", ".parquet")
    slurm.run(submission.job)
    assert set(before) < set(run.files("results", ".parquet"))
    assert_same(run, undisturbed)


@pytest.mark.slow
def test_an_element_that_cannot_write_says_so_and_fails(slurm: FakeSlurm, tmp_path: Path) -> None:
    submission = submit(samples.campaign(), tmp_path / "run", elements=1)
    (tmp_path / "run" / "results").rmdir()
    element = slurm.start(submission.job, 0)
    _, errors = element.communicate()
    assert element.returncode == 1
    assert errors.startswith("schedlab: cannot write ")
    assert errors.count("\n") == 1
    with pytest.raises(OutputError):
        run_element(RunDirectory(tmp_path / "run"), submission.name, 0)
