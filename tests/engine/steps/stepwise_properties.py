"""What holds for every simulation in steps, whatever its features: run by `test_stepwise.py`, without compilation."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from cluster_cases import random_cluster, random_events, random_jobs, random_reservation
from features import BACKFILLINGS, GROUPS, outcome, random_simulation, setting
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.speculate.requests import requests_joined
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.joining import joined
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

settings.register_profile("stepwise", deadline=None, max_examples=40)
settings.load_profile("stepwise")

IN_PYTHON = ("function", "function of w", "@python", "POLICY@python+@mean")
"""Features that live in Python alone, and cannot be saved."""

ON_CLUSTERS = (
    "fcfs",
    "saf+easy",
    "sjf+conservative",
    "wfp3+conservative",
    "wfp3+easy",
    "wfp3+slurm(interval=4,resolution=3,delay=2)",
    "fcfs+slurm(interval=4,resolution=3,delay=2)",
    "saf+easy,placement=fgd",
)


@st.composite
def cases(draw, *, without=()):
    """Draw a setting with a few features that go together, and a random simulation of it."""
    backfilling = draw(st.sampled_from(sorted(BACKFILLINGS)))
    groups = draw(st.lists(st.sampled_from(range(len(GROUPS))), max_size=3, unique=True))
    features = [draw(st.sampled_from(sorted(GROUPS[group]))) for group in groups]
    try:
        case = setting(backfilling, [one for one in features if one not in without])
    except InputError:
        case = setting(backfilling, [])
    if case.refused:
        case = setting(backfilling, [])
    workload, options = random_simulation(case, draw(st.integers(0, 10_000)))
    return workload, case.scheduler, options


def seconds(draw, count):
    return sorted(draw(st.lists(st.integers(0, 120), min_size=count, max_size=count)))


@given(case=cases(), data=st.data())
def test_a_simulation_that_is_interrupted_and_forked_ends_as_if_it_had_not_been(case, data):
    workload, scheduler, options = case
    whole = simulate(workload, scheduler, **options)
    simulation = Simulation(workload, scheduler, **options)
    for until in seconds(data.draw, 3):
        simulation.run(until)
        simulation, before = simulation.fork(), simulation
        before.run()
        assert outcome(before.schedule()) == outcome(whole)
    assert simulation.run()
    assert outcome(simulation.schedule()) == outcome(whole)


@given(case=cases(), data=st.data())
def test_decisions_at_which_nobody_starts_anything_change_nothing(case, data):
    workload, scheduler, options = case
    simulation = Simulation(workload, scheduler, **options)
    simulation.run(data.draw(st.integers(0, 40)))
    while simulation.next_decision():
        assert len(simulation.startable)
    assert outcome(simulation.schedule()) == outcome(simulate(workload, scheduler, **options))


@given(case=cases(without=IN_PYTHON), data=st.data())
def test_a_simulation_that_is_saved_and_loaded_ends_as_if_it_had_not_been(case, data, tmp_path_factory):
    workload, scheduler, options = case
    path = tmp_path_factory.mktemp("saved") / "state.sim"
    simulation = Simulation(workload, scheduler, **options)
    for until in seconds(data.draw, 2):
        simulation.run(until)
        simulation.save(path)
        simulation = Simulation.load(path, data.draw(st.sampled_from([None, workload])))
    simulation.run()
    assert outcome(simulation.schedule()) == outcome(simulate(workload, scheduler, **options))


def parts_of(workload, options, later):
    """Return the jobs of a simulation in two: those before, and the others; what ties them together is left out."""
    requests = options.get("requests")
    pieces = []
    for rows in (np.flatnonzero(~later), np.flatnonzero(later)):
        pieces.append((workload[rows], None if requests is None else requests.in_order(rows)))
    return pieces


def add_in_time(workload, scheduler, options, second):
    """Add the jobs that are submitted behind a second in that second; they must make no difference.

    Users are known from the beginning: the shares of multifactor are of all users that there are.
    """
    later = workload.submit_time > second
    if not later.any():
        return
    (early, asks), (late, asks_later) = parts_of(workload, options, later)
    users = set(early.user_id.tolist())
    if not set(late.user_id.tolist()) <= users:
        late = late.replace(user_id=np.full(len(late), min(users)))
    options = options | ({} if asks is None else {"requests": asks})
    simulation = Simulation(early, scheduler, **options)
    simulation.run(second)
    rows = simulation.submit(late, **({} if asks is None else {"requests": asks_later}))
    assert set(simulation.workload.submit_time[rows].tolist()) == set(late.submit_time.tolist())
    simulation.run()
    if asks is not None:
        options = options | {"requests": requests_joined(asks, asks_later)}
    assert outcome(simulation.schedule()) == outcome(simulate(joined(early, late), scheduler, **options))


@given(case=cases(), data=st.data())
def test_jobs_that_are_added_in_time_make_no_difference(case, data):
    workload, scheduler, options = case
    workload = workload.sorted_by_submit()
    add_in_time(workload, scheduler, options, int(data.draw(st.sampled_from(workload.submit_time.tolist()))))


@pytest.mark.parametrize("feature", sorted({name for group in GROUPS for name in group}))
@pytest.mark.parametrize("backfilling", sorted(BACKFILLINGS))
def test_with_each_feature_by_itself_jobs_may_be_added(feature, backfilling):
    """Drawn ones are of hundreds of pairs: what fails with one feature always might be drawn once in a hundred runs."""
    try:
        case = setting(backfilling, [feature])
    except InputError:
        return
    if not case.refused:
        workload, options = random_simulation(case, 1)
        workload = workload.sorted_by_submit()
        add_in_time(workload, case.scheduler, options, int(np.median(workload.submit_time)))


@given(case=cases(), data=st.data())
def test_whatever_is_started_by_hand_the_machine_is_never_overfull_and_all_jobs_end(case, data):
    workload, scheduler, options = case
    simulation = Simulation(workload, data.draw(st.sampled_from([scheduler, scheduler, None])), **options)
    width = simulation.workload.job_processors
    while simulation.next_decision():
        choice = data.draw(st.sampled_from([None, *simulation.startable.tolist()]))
        if choice is None and simulation.scheduler is None and not len(simulation.running):
            choice = int(simulation.startable[0])
        if choice is not None:
            simulation.start(choice)
            assert choice in simulation.running
            assert choice not in simulation.waiting
        assert width[simulation.running].sum() <= workload.processors
    if simulation.ended:
        schedule = simulation.schedule()
        assert np.all(schedule.start_time >= workload.submit_time)
    else:
        assert simulation.scheduler is None


@st.composite
def clusters(draw):
    """Draw a cluster with jobs, and perhaps events of its nodes, under any backfilling."""
    random = Random(draw(st.integers(0, 10_000)))
    cluster = random_cluster(random)
    options = {"cluster": cluster}
    if random.random() < 0.6:
        events = random_events(random, cluster)
        reserved = (random_reservation(random, cluster),) if random.random() < 0.5 else ()
        options["node_events"] = NodeEvents((*events.events, *reserved), events.interrupted)
    scheduler = draw(st.sampled_from(ON_CLUSTERS))
    return random_jobs(random, cluster, events=options.get("node_events")), scheduler, options


@given(case=clusters(), data=st.data())
def test_on_a_cluster_it_may_be_interrupted_saved_forked_and_added_to(case, data, tmp_path_factory):
    workload, scheduler, options = case
    whole = simulate(workload, scheduler, **options)
    path = tmp_path_factory.mktemp("saved") / "state.sim"
    early = data.draw(st.integers(1, len(workload)))
    simulation = Simulation(workload[:early], scheduler, **options)
    for until in seconds(data.draw, 2):
        if early < len(workload) and until >= int(workload.submit_time[early]):
            break
        simulation.run(until)
        simulation.save(path)
        simulation = data.draw(st.sampled_from([simulation, simulation.fork(), Simulation.load(path)]))
    if early < len(workload):
        simulation.submit(workload[early:])
    simulation.run()
    schedule = simulation.schedule()
    assert outcome(schedule) == outcome(whole)
    assert schedule.placement.node.tolist() == whole.placement.node.tolist()
    assert reasons_of(schedule) == reasons_of(whole)


@pytest.mark.parametrize("moldable", [False, True])
@pytest.mark.parametrize("scheduler", ["fcfs", "fcfs+easy", "fcfs+conservative", "fcfs+slurm"])
def test_added_jobs_may_bring_the_first_licence_and_the_first_alternatives(scheduler, moldable):
    """Two jobs with the only licence: one starts when it comes, the other when that ends at 15."""

    def jobs(submit, licence):
        columns = dict.fromkeys(("run_time", "requested_time"), [10] * len(submit))
        found = Workload.from_columns(columns | {"submit_time": submit, "requested_processors": [2] * len(submit)})
        asked = Resources.of(len(submit), tasks=[2] * len(submit), licenses=[licence] * len(submit))
        return found.replace(resources=asked, processors=8)

    cluster = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=4)], licenses={"M": 1})
    simulation = Simulation(jobs([0], None), scheduler, cluster=cluster)
    simulation.run(1)
    added = jobs([5, 6], "M")
    if moldable:  # alone, the last one could run in one processor, and longer
        other = Alternatives.of([1], processors=[1], run_time=[20], requested_time=[20], jobs=2)
        added = added.replace(alternatives=other)
    simulation.submit(added)
    simulation.run()
    starts = simulation.schedule().start_time.tolist()
    assert starts[:2] == [0, 5]
    assert 15 <= starts[2] <= 15 + 30  # Slurm's backfill pass may come first


@given(case=clusters())
def test_on_a_cluster_decisions_at_which_nobody_starts_anything_change_nothing(case):
    workload, scheduler, options = case
    simulation = Simulation(workload, scheduler, **options)
    while simulation.next_decision():
        assert len(simulation.startable)
    schedule, whole = simulation.schedule(), simulate(workload, scheduler, **options)
    assert outcome(schedule) == outcome(whole)
    assert reasons_of(schedule) == reasons_of(whole)


def reasons_of(schedule):
    waited = schedule.waited_for or {}
    return {reason: seconds.tolist() for reason, seconds in waited.items() if seconds.any()}
