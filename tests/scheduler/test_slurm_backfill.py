"""Options of Slurm's passes as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.scheduler import Scheduler
from schedlab.scheduler.slurm_backfill import ALL, LONGEST, SlurmBackfill

from_zero, from_one = st.integers(0, ALL), st.integers(1, ALL)
seconds = st.integers(0, LONGEST)
options = st.builds(
    SlurmBackfill,
    interval=seconds,
    depth=from_one,
    resolution=st.integers(1, LONGEST),
    window=from_zero,
    reserve=from_zero,
    queue_depth=from_one,
    delay=seconds,
    overtime=from_zero,
    node=seconds,
    wf_depth=from_one,
    wf_plan=st.sampled_from(["all", "ready"]),
    wf_count=st.sampled_from(["tasks", "workflows"]),
)


def test_the_defaults_are_those_of_slurm():
    # bf_interval, bf_max_job_test, bf_resolution, bf_window (1440 min), default_queue_depth, batch_sched_delay,
    # OverTimeLimit, in slurm.conf(5).
    passes = SlurmBackfill()
    assert (passes.interval, passes.depth, passes.resolution, passes.window) == (30, 500, 60, 1440 * 60)
    assert (passes.queue_depth, passes.delay, passes.overtime) == (100, 3, 0)
    assert passes.text == "slurm"


@given(options)
def test_options_read_back_from_their_text(passes):
    assert SlurmBackfill.parse(passes.text) == passes
    assert Scheduler.parse(f"saf+{passes.text}").slurm == passes


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("slurm()", "slurm"),
        ("slurm(interval=30, depth=500)", "slurm"),
        ("SLURM( Depth = ALL , window=2d)", "slurm(depth=all,window=172800)"),
        ("slurm(interval=0.5min,overtime=1min)", "slurm(overtime=60)"),
        ("slurm(wf_plan=Ready,wf_count=workflows)", "slurm(wf_plan=ready,wf_count=workflows)"),
    ],
)
def test_a_text_has_one_canonical_form(text, canonical):
    assert SlurmBackfill.parse(text).text == canonical
    assert Scheduler.parse(f"fcfs+{text}").text == f"fcfs+{canonical}"


def test_slurm_alone_is_not_taken_for_a_policy():
    assert Scheduler.parse("slurm(depth=50)").text == "fcfs+slurm(depth=50)"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("slurm(depth=0)", f"slurm: depth=0 is not a whole number from 1 to {ALL}"),
        ("slurm(resolution=0)", f"slurm: resolution=0 is not a whole number from 1 to {LONGEST}"),
        ("slurm(queue_depth=0)", f"slurm: queue_depth=0 is not a whole number from 1 to {ALL}"),
        ("slurm(wf_depth=0)", f"slurm: wf_depth=0 is not a whole number from 1 to {ALL}"),
        ("slurm(interval=0.5)", "interval=0.5 is not a whole number"),
        ("slurm(wf_plan=some)", "slurm: wf_plan=some; known are all and ready"),
        ("slurm(wf_count=cores)", "slurm: wf_count=cores; known are tasks and workflows"),
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(InputError) as error:
        SlurmBackfill.parse(text)
    assert str(error.value) == sentence


def test_options_from_python_are_checked_too():
    with pytest.raises(InputError, match=r"^slurm: interval=-1 is not a whole number from 0"):
        SlurmBackfill(interval=-1)
    with pytest.raises(InputError, match=r"^slurm: window=1.5 is not a whole number from 0"):
        SlurmBackfill(window=1.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^options of Slurm's passes belong to slurm backfilling$"):
        Scheduler(Scheduler.parse("fcfs").policy, "easy", slurm=SlurmBackfill())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("fcfs+slurm@ave2", "fcfs+slurm@ave2/incremental: multifactor and +slurm do not go with @ave2"),
        ("fcfs+slurm,window=3", "fcfs+slurm,window=3: multifactor and +slurm do not go with window="),
        ("fcfs+slurm,starvation=60", "fcfs+slurm,starvation=60: multifactor and +slurm do not go with starvation="),
        ("fcfs+slurm:sjf", "a candidate order (:ORDER) belongs to easy backfilling only"),
        ("fcfs+easy(depth=3)", "scheduler 'fcfs+easy(depth=3)': easy backfilling has no arguments; slurm has"),
    ],
)
def test_what_does_not_go_with_slurms_passes_is_refused(text, reason):
    with pytest.raises(InputError) as error:
        Scheduler.parse(text)
    assert str(error.value) == reason


@pytest.mark.parametrize("option", ["interval", "resolution", "delay", "node"])
def test_what_is_no_limit_cannot_be_all(option):
    with pytest.raises(InputError, match=f"{option}=all is not a whole number"):
        SlurmBackfill.parse(f"slurm({option}=all)")


@pytest.mark.parametrize("text", ["fcfs+slurm(depth=50", "multifactor(age=1", '"p*(q"+slurm(depth=5'])
def test_a_bracket_that_is_not_closed_is_named(text):
    with pytest.raises(InputError, match="bracket is not closed"):
        Scheduler.parse(text)
