"""Kinds of backfilling, and the options of Slurm's passes as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.scheduler import Scheduler, policy_from_text
from schedlab.scheduler.backfilling import LONGEST, Conservative, Easy, NoBackfill, Slurm
from schedlab.scheduler.slurm_limits import ALL

from_zero, from_one = st.integers(0, ALL), st.integers(1, ALL)
seconds = st.integers(0, LONGEST)
options = st.builds(
    Slurm,
    interval=seconds,
    depth=from_one,
    resolution=st.integers(1, LONGEST),
    window=from_zero,
    reserve=from_zero,
    queue_depth=from_one,
    delay=seconds,
    overtime=from_zero,
    tick=seconds,
    node=seconds,
    wf_depth=from_one,
    wf_plan=st.sampled_from(["all", "ready"]),
    wf_count=st.sampled_from(["tasks", "workflows"]),
    serial=st.sampled_from(["rule", "last"]),
    busy=st.sampled_from(["rule", "first"]),
    hetjob_prio=st.sampled_from(["own", "min", "avg", "max"]),
    hetjob_immediate=st.sampled_from(["no", "yes"]),
)


def test_the_defaults_are_those_of_slurm():
    # bf_interval, bf_max_job_test, bf_resolution, bf_window (1440 min), default_queue_depth, batch_sched_delay,
    # OverTimeLimit, in slurm.conf(5).
    passes = Slurm()
    assert (passes.interval, passes.depth, passes.resolution, passes.window) == (30, 500, 60, 1440 * 60)
    assert (passes.queue_depth, passes.delay, passes.overtime) == (100, 3, 0)
    assert passes.text == "slurm"


@given(options)
def test_options_read_back_from_their_text(passes):
    assert Slurm.parse(passes.text) == passes
    assert Scheduler.parse(f"saf+{passes.text}").backfill == passes


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
    assert Slurm.parse(text).text == canonical
    assert Scheduler.parse(f"fcfs+{text}").text == f"fcfs+{canonical}"


def test_slurm_alone_is_not_taken_for_a_policy():
    assert Scheduler.parse("slurm(depth=50)").text == "fcfs+slurm(depth=50)"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("slurm(depth=0)", f"slurm: depth=0 must be a whole number from 1 to {ALL}"),
        ("slurm(resolution=0)", f"slurm: resolution=0 must be a whole number from 1 to {LONGEST}"),
        ("slurm(queue_depth=0)", f"slurm: queue_depth=0 must be a whole number from 1 to {ALL}"),
        ("slurm(wf_depth=0)", f"slurm: wf_depth=0 must be a whole number from 1 to {ALL}"),
        ("slurm(interval=0.5)", "interval=0.5 is not a whole number"),
        ("slurm(wf_plan=some)", "slurm: wf_plan=some; known are all and ready"),
        ("slurm(hetjob_prio=mean)", "slurm: hetjob_prio=mean; known are own and min and avg and max"),
        ("slurm(wf_count=cores)", "slurm: wf_count=cores; known are tasks and workflows"),
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(InputError) as error:
        Slurm.parse(text)
    assert str(error.value) == sentence


def test_options_from_python_are_checked_too():
    with pytest.raises(InputError, match=r"slurm: interval=-1 must be a whole number from 0"):
        Slurm(interval=-1)
    with pytest.raises(InputError, match=r"^slurm: window=1.5 must be a whole number from 0"):
        Slurm(window=1.5)  # type: ignore[arg-type]


def test_only_slurm_has_arguments():
    with pytest.raises(InputError) as error:
        Scheduler.parse("fcfs+easy(depth=3)")
    assert str(error.value) == "scheduler 'fcfs+easy(depth=3)': easy backfilling takes no arguments; slurm does"


def test_each_kind_has_a_text():
    order = policy_from_text("saf")
    kinds = NoBackfill(), Easy(), Easy(order), Conservative(), Conservative(fixed=True), Slurm(depth=5)
    assert [kind.text for kind in kinds] == ["", "easy", "easy:saf", "conservative", "conservative", "slurm(depth=5)"]


@pytest.mark.parametrize("option", ["interval", "resolution", "delay", "node"])
def test_what_is_no_limit_cannot_be_all(option):
    with pytest.raises(InputError, match=f"{option}=all must be a whole number"):
        Slurm.parse(f"slurm({option}=all)")


@pytest.mark.parametrize("text", ["fcfs+slurm(depth=50", "multifactor(age=1", '"p*(q"+slurm(depth=5'])
def test_a_bracket_that_is_not_closed_is_named(text):
    with pytest.raises(InputError, match="bracket is not closed"):
        Scheduler.parse(text)
