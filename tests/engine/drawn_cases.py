"""Random simulations of everything that goes together, and whether engine and reference agree on them.

They are drawn independently of the other random cases of these tests: through public names, with documents of clusters
and texts of schedulers as users write them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from agent_samples import random_network, saved
from drawing import Draw, whole
from drawn_clusters import Document, drawn_cluster, drawn_events, with_power_saving
from drawn_jobs import asking_for_reservations, drawn_jobs, without_rows
from drawn_schedulers import drawn_scheduler, with_python
from drawn_subjects import drawn_subject
from features import outcome
from test_nodes_against_twin import replayed
from test_nodes_against_twin import simulate as simulate_prepared

from schedlab.cluster.cluster import Cluster
from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay, simulate_plain
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.scheduler import Scheduler
from schedlab.workload.workload import Workload

ATTEMPTS = 6
"""How often a case is drawn until one is not refused."""

MOST, MANY = 25, 60
"""Jobs of a case, and of one about what takes many. More are drawn, as half of them can never run."""

STEPWISE = 3
"""Of one case of so many, the engine is compared with itself, too, interrupted: that takes a third of a case's time."""

DISTRIBUTIONS: dict[str, Any] = {
    "distributions": ("uniform(0s,60s)", "uniform(5s,100s)"),
    "sequences": ("10s, 30s, 60s", "50s, 100s"),
}


class Case(NamedTuple):
    """A simulation: the arguments of `simulate`, the document that its cluster is made of, and all jobs as drawn."""

    workload: Workload
    scheduler: str | Scheduler
    options: dict[str, Any]
    document: Document
    drawn: Workload | None = None

    @property
    def described(self) -> str:
        """What it is, in a line."""
        scheduler = self.scheduler if isinstance(self.scheduler, str) else self.scheduler.text
        others = [name for name in self.options if name != "cluster"]
        return f"{len(self.workload)} jobs on {self.options['cluster']!r}, {scheduler} {' '.join(others)}".strip()


def drawn_case(seed: int) -> Case | None:
    """Return the random simulation of a seed, without the jobs that can never run; None if nothing goes together."""
    for attempt in range(ATTEMPTS):
        draw = Draw(f"engine {seed}, {attempt}")
        try:
            whole_case = _any_case(draw)
            case = without_what_never_runs(whole_case)
        except InputError:
            continue
        if case is not None:
            most = MANY if "many" in draw.wanted else MOST
            first = without_rows(case.workload, np.arange(most, len(case.workload)))
            return case._replace(workload=first, drawn=whole_case.workload)
    return None


def _any_case(draw: Draw) -> Case:
    """Return a random simulation, which may be refused."""
    draw.wanted = drawn_subject(draw)
    nodes = draw.has("nodes", 0.1 if draw.wanted & {"many", "processors"} else 0.75)
    seldom = 0.05 if draw.wanted else 0.2
    heterogeneous = draw.has("heterogeneous", seldom)
    moldable = not heterogeneous and draw.has("moldable", seldom)
    licensed = draw.chance(0.25) and "order of events" not in draw.wanted  # they do not go together
    licences: Document = {"licenses": {"L": draw.randint(1, 3), "M": 1}} if licensed else {}
    document = (
        drawn_cluster(draw)
        if nodes
        else {"processors": draw.randint(*(4, 8) if "queue" in draw.wanted else (1, 12)), **licences}
    )
    cluster = Cluster.from_dict(document)
    scheduler = drawn_scheduler(draw, nodes=nodes, switches="switches" in document, heterogeneous=heterogeneous)
    jobs = draw.choice([50, 80] if draw.wanted else [4, 10, 16, 25, 40])
    workload = drawn_jobs(draw, document, cluster.processors, jobs, heterogeneous=heterogeneous, moldable=moldable)
    options: dict[str, Any] = {"cluster": cluster}
    if (
        nodes
        and draw.has("events", 0.1 if "queue" in draw.wanted else 0.35)
        and (events := drawn_events(draw, document["groups"])) is not None
    ):
        options["node_events"] = events
        if events.reservations:
            workload = asking_for_reservations(draw, workload, [event.name for event in events.reservations])
    if not nodes and draw.has("order of events", 0.3):
        options["events"] = draw.one("pyss", "sc17")
    options |= draw.fields({"in_order": (0.08, whole(1, 8))})
    if draw.has("distributions", seldom):
        workload, scheduler = _with_distributions(draw, workload, scheduler)
    if nodes and "preemption" not in document and not {"node_events", "events"} & options.keys():
        options["cluster"] = with_power_saving(cluster, workload, scheduler)
    case = Case(workload, scheduler, options, document)
    by_python = draw.chance(0.03 if draw.wanted else 0.4)
    return case._replace(scheduler=with_python(draw, scheduler)) if by_python else case


def _with_distributions(draw: Draw, workload: Workload, scheduler: str) -> tuple[Workload, str]:
    """Return jobs whose run times follow distributions, and a scheduler that knows; some fail at their requests."""
    number = np.array([draw.randint(-1, 1) for _ in range(len(workload))])
    if not (number >= 0).any():
        return workload, scheduler
    options = []
    if draw.chance(0.7):
        methods = ("classic", "neuroscience(k=2)", "given", "given", "neuroscience(k=3,listed)")
        options.append(f"requests={draw.choice(methods)}")
        options += draw.text({"exhausted": (0.4, ("give-up", "2", "1.1"))})
    if "+easy" in scheduler or "+conservative" in scheduler:
        options += draw.text({"speculation": (0.4, ("0", "0", "0.2", "0.2", "0.9"))})
    options = options or ["requests=classic"]
    return workload.replace(distribution=number, **DISTRIBUTIONS), ",".join([scheduler, *options])


def without_what_never_runs(case: Case) -> Case | None:
    """Return a case without the jobs that are refused; None if it is refused for another reason.

    Raises
    ------
    InputError
        If the whole case is refused.
    """
    workload, cluster = case.workload, case.options["cluster"]
    while len(workload) and cluster.groups and workload.alternatives is None:
        never = np.flatnonzero(never_runs(workload, cluster).codes >= 0)
        if not len(never):
            break
        workload = without_rows(workload, never)
    while len(workload):
        try:
            prepare(workload, case.scheduler, **case.options)
        except InputError as error:
            if error.row is None or error.row >= len(workload):
                raise
            workload = without_rows(workload, [error.row])
        else:
            return case._replace(workload=workload)
    return None


def found_by_engine(case: Case) -> Any:
    """Return what a case gives with the engine, or the sentence by which it refuses."""
    prepared = prepare(case.workload, case.scheduler, **case.options)
    try:
        if prepared.nodes is None or prepared.spread is not None:
            return told(simulate(case.workload, case.scheduler, **case.options))
        schedule, held = simulate_prepared(prepared)
        return told(schedule) | {"nodes": held}
    except InputError as error:
        return str(error)


def found_by_twin(case: Case) -> Any:
    """Return the same by the reference."""
    prepared = prepare(case.workload, case.scheduler, **case.options)
    try:
        if prepared.events == "sc17":
            options = {name: value for name, value in case.options.items() if name != "cluster"}
            processors = case.options["cluster"].processors
            return told(simulate_plain(case.workload, case.scheduler, processors=processors, **options))
        if prepared.nodes is None or prepared.spread is not None:
            return told(replay(prepared))
        schedule, held = replayed(prepared)
        return told(schedule) | {"nodes": held}
    except InputError as error:
        return str(error)


def told(schedule: Any) -> dict[str, Any]:
    """Return everything that a schedule says of its jobs."""
    found: dict[str, Any] = outcome(schedule)
    if schedule.pauses is not None:
        found["pauses"] = sorted(schedule.pauses.tolist())
    if schedule.waited_for is not None:
        found["waited for"] = {why: times.tolist() for why, times in sorted(schedule.waited_for.items()) if times.any()}
    return found


def interrupted(case: Case, seed: int) -> Any:
    """Return what a case gives if it is saved, loaded and forked at random seconds on its way."""
    draw = Draw(f"interrupted {seed}")
    latest = int(case.workload.submit_time.max()) + 60
    try:
        simulation = Simulation(case.workload, case.scheduler, **case.options)
        for until in sorted(draw.randint(0, latest) for _ in range(2)):
            simulation.run(until)
            if isinstance(case.scheduler, str) and draw.chance(0.5):
                with tempfile.TemporaryDirectory() as directory:
                    simulation.save(Path(directory) / "state.sim")
                    simulation = Simulation.load(Path(directory) / "state.sim")
            else:
                simulation = simulation.fork()
        simulation.run()
        return told(simulation.schedule())
    except InputError as error:
        return str(error)


def differences(case: Case, seed: int) -> list[str]:
    """Return in what engine and reference differ, and for some seeds the engine from itself if it is interrupted."""
    engine, twin = found_by_engine(case), found_by_twin(case)
    found = between("the reference", engine, twin)
    if seed % STEPWISE == 0 and case.options.get("events") != "sc17":
        found += from_itself(engine, interrupted(case, seed))
    return found


def from_itself(engine: Any, stepwise: Any) -> list[str]:
    """Return in what a simulation in steps differs; what is refused as a whole may just not end in steps."""
    both_refuse = isinstance(engine, str) and isinstance(stepwise, str)
    return [] if both_refuse else between("itself, interrupted,", engine, stepwise)


def between(other: str, one: Any, two: Any) -> list[str]:
    """Return in what two answers differ; only what both tell counts."""
    if isinstance(one, str) or isinstance(two, str):
        texts = (one if isinstance(one, str) else "a schedule", two if isinstance(two, str) else "a schedule")
        return [] if one == two else [f"the engine: {texts[0]}; {other} {texts[1]}"]
    names = sorted((one.keys() | two.keys()) - ({"nodes"} if "nodes" not in two else set()))
    wrong = [name for name in names if one.get(name) != two.get(name)]
    return [f"the engine differs from {other} in {', '.join(wrong)}"] if wrong else []


def with_agent(seed: int, directory: Path) -> Case | None:
    """Return a case that an agent with random weights schedules, which has no twin; None if it does not go together."""
    case = drawn_case(seed)
    if case is None:
        return None
    path = saved(directory, random_network(seed % 7), f"{seed % 7}.json")
    options = {name: value for name, value in case.options.items() if name != "events"}
    try:
        return without_what_never_runs(case._replace(scheduler=f"@agent:{path}", options=options))
    except InputError:
        return None


def differences_of_agent(case: Case, seed: int) -> list[str]:
    """Return in what the engine differs from itself, interrupted, and where a node has more than it holds."""
    engine = found_by_engine(case)
    found = from_itself(engine, interrupted(case, seed))
    if not isinstance(engine, str):
        schedule = simulate(case.workload, case.scheduler, **case.options)
        found += [f"at {second}, more is in use than there is" for second in crowded(schedule)]
    return found


def crowded(schedule: Any) -> list[int]:
    """Return the seconds in which more cores are held than there are, in all or on a node."""
    runs, place = schedule.runs, schedule.placement
    start, end = (schedule.start_time, schedule.end_time) if runs is None else (runs["start"], runs["end"])
    width = schedule.workload.job_processors[np.arange(len(start)) if runs is None else runs["job"]]
    found = []
    for second in np.unique(start).tolist():
        now = (start <= second) & (second < end)
        if place is None:
            if width[now].sum() > schedule.processors:
                found.append(second)
            continue
        parts = np.repeat(now, np.diff(place.offsets))
        held = np.bincount(place.node[parts], place.held_cores[parts], len(place.cores))
        if (held > place.cores).any():
            found.append(second)
    return found
