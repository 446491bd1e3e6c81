"""How often each limit, flag, event and option of random simulations binds: a run with it and one without it differ.

What lets jobs run or keeps them from ever running, like limits of single jobs, binds where other jobs are left out
without it, as they never run.

    NUMBA_DISABLE_JIT=1 python tests/engine/random_coverage.py --cases 2000
    NUMBA_DISABLE_JIT=1 python tests/engine/random_coverage.py --of clusters

What binds in fewer than one case of a hundred is hardly tested, and stands first in the table. What binds more often
beyond doubt is not tried any further: there, the share is of the cases until then.
"""

from __future__ import annotations

import argparse
import copy
import os
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE / "parts" / "heterogeneous"), str(HERE.parent / "gym")]

from drawn_cases import Case, drawn_case, found_by_engine, without_what_never_runs  # noqa: E402
from drawn_jobs import with_resources  # noqa: E402
from engine_fuzzer import impatient, results  # noqa: E402
from scipy.stats import binom  # noqa: E402
from test_state import KINDS  # noqa: E402

from schedlab.cluster.cluster import Cluster  # noqa: E402
from schedlab.errors import InputError  # noqa: E402
from schedlab.workload.resources import NUMBERS, Labels  # noqa: E402
from schedlab.workload.workload import Workload  # noqa: E402

ENOUGH = 0.01
"""The share of cases in which something should bind."""

DOUBT = 0.001
"""The chance at most that something binds by luck as often as was seen, if it does in no more cases than it should."""

AT_A_TIME, GROWS = 20, 4
"""Cases after which is looked at what has bound often enough; later, after a quarter more each time."""

NAMES = {
    *("name", "nodes", "cores", "user", "account", "default", "parent", "by", "format", "version", "processors"),
    *("gpus", "features", "switch", "licenses"),
}
"""Fields without which there is no cluster, or no job that asks for them: see the columns of the jobs."""

NOT_ASKED = {("accounts", "qos"), ("users", "qos")}
"""Which QOS an account may use: a job of a log had the one that it had."""

OPTION = re.compile(r"(?<=[(,])([a-z_]+)=[^,()]*(?:\([^()]*\))?")
"""An option in the text of a scheduler."""

TOGETHER = {
    **{"partition": ["partitions"], "qos": ["qoses"], "size": ["favor", "relative"], "tres": ["amounts"]},
    **{"age": ["max_age", "accrue"], "fairshare": ["half_life", "shares", "ends"]},
}
"""Options that are nothing without another one."""

WHEN = {"checkpoint_interval": "checkpoint_when_told", "checkpoint_when_told": "checkpoint_interval"}
"""When jobs write checkpoints: what is left without one of these columns."""

NO_FACTOR = re.compile(r"multifactor(\((period=[^,()]*)?\))?(?![(\w])")
"""What is left of a policy without its last factor: all priorities are equal."""

PLACES = {"start_time", "end_time", "runs", "pauses", "nodes", "alternative"}
"""What differs when something binds."""


Made = tuple[str, Callable[[], Case]]
"""The name of something, and what makes the case without it; raises InputError if it cannot be without."""


def without(case: Case) -> Iterator[Made]:
    """Yield everything that a case has."""
    yield from _without_fields(case)
    if isinstance(case.scheduler, str):
        for name in sorted({found[1] for found in OPTION.finditer(case.scheduler)}):
            yield f"scheduler: {name}", partial(case._replace, scheduler=_without_option(case.scheduler, name))
    yield from _without_columns(case)
    for name in ("dependencies", "alternatives", "workflows"):
        if getattr(case.workload, name) is not None:
            yield f"jobs: {name}", _with_jobs(case, partial(case.workload.replace, **{name: None}))
    for name in sorted(case.options.keys() - {"cluster"}):
        rest = {key: value for key, value in case.options.items() if key != name}
        yield f"simulate: {name}", partial(case._replace, options=rest)
    yield from _without_events(case)


def _with_jobs(case: Case, make: Callable[[], Workload]) -> Callable[[], Case]:
    return lambda: case._replace(workload=make())


def _without_fields(case: Case) -> Iterator[Made]:
    for path in sorted(_paths(case.document)):

        def remade(path: tuple[str, ...] = path) -> Case:
            document = copy.deepcopy(case.document)
            _drop(document, path)
            cluster = Cluster.from_dict(document)
            return case._replace(document=document, options={**case.options, "cluster": cluster})

        yield f"cluster: {'.'.join(path)}", remade


def _paths(document: Any, *above: str) -> set[tuple[str, ...]]:
    """Return the paths of fields; those of all tables of a list are the same."""
    found: set[tuple[str, ...]] = set()
    for name, value in document.items():
        tables = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
        for table in tables:
            found |= _paths(table, *above, name)
        if name in ("limits", "preemption"):
            found |= _paths(value, *above, name)
        elif not tables and name not in NAMES and (*above, name) not in NOT_ASKED:
            found.add((*above, name))
    return found


def _drop(document: Any, path: tuple[str, ...]) -> None:
    if len(path) == 1:
        document.pop(path[0], None)
        return
    inner = document.get(path[0], {})
    for table in inner if isinstance(inner, list) else [inner]:
        _drop(table, path[1:])


def _without_option(text: str, name: str) -> str:
    names = {name, *TOGETHER.get(name, ())}
    text = OPTION.sub(lambda found: "" if found[1] in names else found[0], text)
    text = re.sub(r",+", ",", text).replace("(,", "(").replace(",)", ")").replace("()", "")
    return NO_FACTOR.sub("fcfs", text).rstrip(",")


def _without_columns(case: Case) -> Iterator[Made]:
    resources = case.workload.resources
    for name in () if resources is None else sorted(set(resources.said) - {"tasks", "cores_per_task", "array"}):
        count = len(case.workload)
        usual = {name: np.full(count, NUMBERS[name]) if name in NUMBERS else Labels.none(count)}
        if name in WHEN:  # what no checkpoint costs would be refused
            left = getattr(resources, WHEN[name]) > 0
            usual |= {cost: np.where(left, getattr(resources, cost), 0) for cost in ("checkpoint_cost", "restart_cost")}
        yield f"jobs: {name}", _with_jobs(case, partial(with_resources, case.workload, **usual))


def _without_events(case: Case) -> Iterator[Made]:
    events = case.options.get("node_events")
    if events is None:
        return
    for kind in sorted({event.event for event in events.events} - {"up", "gpu-up"}):
        rest = tuple(event for event in events.events if event.event != kind)

        def remade(rest: Any = rest) -> Case:
            return case._replace(options={**case.options, "node_events": replace(events, events=rest)})

        yield f"event: {kind}", remade


def differ(one: Any, other: Any) -> bool:
    """Return whether two answers place a job elsewhere or at another time, or only one is that some never start."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) != isinstance(other, str)
    return any(one.get(name) != other.get(name) for name in PLACES)


class Judge:
    """What says whether something binds in a case, which is simulated once."""

    def __init__(self, case: Case) -> None:
        self.case, self.answer = case, found_by_engine(case)

    def binds(self, other: Case) -> bool:
        """Return whether it makes a difference what another case lacks."""
        return differ(self.answer, found_by_engine(other)) or self.leaves_out_others(other)

    def leaves_out_others(self, other: Case) -> bool:
        """Return whether other jobs are left out as they never run, if it has another cluster."""
        return self.case.document is not other.document and self._left(other) != self._kept

    @cached_property
    def _kept(self) -> int:
        return self._left(self.case)

    def _left(self, case: Case) -> int:
        """Return how many of the jobs that were drawn can run."""
        if self.case.drawn is None:
            return 0
        found = without_what_never_runs(case._replace(workload=self.case.drawn))
        return 0 if found is None else len(found.workload)


def case_of(kind: str, seed: int) -> Case | None:
    """Return a case of a kind: drawn, or of those that `test_state.py` saves and forks."""
    if kind == "drawn":
        return drawn_case(seed)
    workload, scheduler, options = KINDS[kind](Random(f"{kind}, {seed}"))
    cluster = options.get("cluster") or Cluster(int(workload.processors))
    document = {name: value for name, value in cluster.to_dict().items() if name != "name"}
    text = scheduler if isinstance(scheduler, str) else scheduler.text
    return Case(workload, text, {**options, "cluster": cluster}, document) if len(workload) else None


class Line:
    """How often something was tried and has bound."""

    def __init__(self) -> None:
        self.tried = self.bound = self.cases = 0


def what_binds(kind: str, seed: int, enough: Collection[str]) -> dict[str, bool]:
    """Return of everything that a case has, and that has not bound often enough yet, whether it binds."""
    impatient()
    warnings.simplefilter("ignore")  # kernels as plain Python warn where compiled ones do not
    case = case_of(kind, seed)
    if case is None:
        return {}
    judge, found = Judge(case), dict[str, bool]()
    for name, make in without(case):
        if name not in enough:
            with suppress(InputError):  # where it cannot run without
                found[name] = judge.binds(make())
    return found


def table(kind: str, cases: int, first: int = 0, workers: int = 1) -> dict[str, Line]:
    """Return how often everything that cases have was tried, and has bound."""
    lines, enough = defaultdict[str, Line](Line), set[str]()
    done = 0
    while done < cases:
        seeds = range(first + done, first + min(done + max(AT_A_TIME, done // GROWS), cases))
        done += len(seeds)
        for found in results(seeds, workers, partial(what_binds, kind, enough=frozenset(enough))):
            for name, binds in found.items():
                lines[name].bound += binds
                lines[name].tried += 1
        for name, line in lines.items():
            if name not in enough and binom.sf(line.bound - 1, done, ENOUGH) < DOUBT:
                enough.add(name)
                line.cases = done
        print(f"{done:,} of {cases:,} cases, {len(lines) - len(enough)} in doubt", file=sys.stderr, flush=True)
    for name in lines.keys() - enough:
        lines[name].cases = cases
    return dict(lines)


def main() -> int:
    """Print the table; exit code 1 if something binds too seldom."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--of", choices=["drawn", *KINDS], default="drawn", help="which random simulations")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    found = table(given.of, given.cases, given.first, given.workers)
    print(f"{'':<44}{'with it':>8}{'binds':>7}{'cases':>7}{'share':>8}")
    seldom = 0
    for name, line in sorted(found.items(), key=lambda one: one[1].bound / one[1].cases):
        share = line.bound / line.cases
        seldom += share < ENOUGH
        print(f"{name:<44}{line.tried:>8}{line.bound:>7}{line.cases:>7}{share:>8.1%}")
    print(f"{seldom} of {len(found)} bind in fewer than {ENOUGH:.0%} of {given.cases:,} cases from seed {given.first}")
    return 1 if seldom else 0


if __name__ == "__main__":
    sys.exit(main())
