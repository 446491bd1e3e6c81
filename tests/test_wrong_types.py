"""Arguments of a wrong type are told in one sentence."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import schedlab as sl
from schedlab.arguments import explained
from schedlab.errors import InputError, SchedlabError

NODES = sl.Cluster.of_nodes(sl.cluster.NodeGroup.of("n[1-4]", cores=4))
JOBS = sl.Workload.from_columns({"submit_time": [0], "run_time": [1], "requested_processors": [1]}, processors=4)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: sl.backfilling.Easy(order="sjf"), "a str is not a policy: give one, such as SPF(), or write"),
        (lambda: sl.backfilling.Easy(order=3), "an int is not a policy"),
        (lambda: sl.Scheduler.parse(3), "an int is not a str: a scheduler text is written like"),
        (lambda: sl.Scheduler.parse("fcfs+reservations(k=3)"), "unknown backfilling 'reservations'; known are easy"),
        (lambda: sl.Scheduler("fcfs+reservations(k=3)"), "is not a policy; Scheduler.parse reads the text of a whole"),
        (lambda: sl.Scheduler("fcfs+mine:Own(k=3)"), "is not a policy; Scheduler.parse reads the text of a whole"),
        (lambda: sl.policies.FormulaPolicy(3), "an int is not a str: a formula is a text"),
        (lambda: sl.policies.Multifactor(age="x"), "multifactor: age='x': weights are numbers of 0 or more"),
        (lambda: sl.compare(JOBS, schedulers=3), "3 names no schedulers: give texts such as"),
        (lambda: sl.compare(JOBS, schedulers=None), "None names no schedulers: give texts such as"),
        (
            lambda: sl.cluster.NodeEvents.drawn(NODES, mtbf=[1], mttr=1, until=9, rng=1),
            "mtbf=[1]: must be greater than",
        ),
        (lambda: sl.cluster.NodeEvents.drawn(NODES, mtbf="often", mttr=1, until=9, rng=1), "'often' is not a duration"),
    ],
)
def test_an_argument_of_a_wrong_type_is_told_in_one_sentence(call, told):
    with pytest.raises(InputError) as error:
        call()
    assert told in str(error.value)


def test_times_between_failures_are_seconds_or_durations():
    by_text = sl.cluster.NodeEvents.drawn(NODES, mtbf="1d", mttr="1h", until=10**6, rng=1)
    assert by_text == sl.cluster.NodeEvents.drawn(NODES, mtbf=86400, mttr=3600, until=10**6, rng=1)


def test_a_formula_may_still_end_in_a_function():
    assert sl.Scheduler.parse("p+sqrt(q)").text == '"p+sqrt(q)"'


class Wrong:
    """Something that is no argument of anything."""

    def __repr__(self) -> str:
        return "<wrong>"


UNCHECKED = {
    "warm_up": "any value is a truth value, and it compiles all kernels",
    "text.count_of": "it makes sentences of errors, and may not read them",
    "text.table": "it makes sentences of errors, and may not read them",
    "Campaign": "pydantic's ValidationError names field and value",
    "types.ExperimentEntry": "pydantic's ValidationError names field and value",
    "types.Failures": "pydantic's ValidationError names field and value",
    "Simulation.from_state": "its module is as long as modules may be",
    "Simulation.load": "its module is as long as modules may be",
    "Workload": "its module is as long as modules may be; from_columns and from_frame, which users call, do tell",
    "Workload.concat": "its module is as long as modules may be",
    "cluster.NodeEvents": "its module is as long as modules may be",
    "cluster.NodeEvents.read": "its module is as long as modules may be",
    "cluster.NodeEvents.from_csv": "its module is as long as modules may be",
    "cluster.NodeEvents.drawn": "its module is as long as modules may be; rng is the one that is raw",
    "workload.Labels": "its module is as long as modules may be",
    "workload.Labels.of": "its module is as long as modules may be",
    "workload.Labels.none": "its module is as long as modules may be",
    "workload.Resources": "its module is as long as modules may be",
    "workload.Resources.of": "its module is as long as modules may be",
    "workload.Resources.of_processors": "its module is as long as modules may be",
    "workload.Resources.from_frame": "its module is as long as modules may be",
    "site.rank_variants": "its module is as long as modules may be",
}
"""Public callables that may answer a wrong argument with an error of Python, and why."""


UNCHECKED_METHODS = {
    "policies.Policy.scores": "a policy of its own has a formula or another method",
    "scheduling.Pass.decide": "a pass of its own has another method",
}
"""Methods that may do so, and why."""


def public() -> Iterator[tuple[str, Any]]:
    for name in sl.__all__:  # type: ignore[attr-defined]
        thing = getattr(sl, name)
        if inspect.ismodule(thing) and name != "gym":
            yield from ((f"{name}.{inner}", getattr(thing, inner)) for inner in thing.__all__)
        elif not inspect.ismodule(thing):
            yield name, thing


def public_callables() -> Iterator[tuple[str, Any]]:
    for name, thing in public():
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and not issubclass(thing, BaseException) and not inspect.isabstract(thing):
            yield name, thing
            for member, value in vars(thing).items():
                if isinstance(value, classmethod | staticmethod) and not member.startswith("_"):
                    yield f"{name}.{member}", getattr(thing, member)


def samples() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    jobs = sl.clean(sl.model.tsafrir_estimates(sl.model.lublin(30, 16, rng=rng, load=0.9), rng=rng))
    schedule = sl.simulate(jobs, "fcfs")
    of_jobs = {"workload": jobs, "jobs": jobs, "schedule": schedule, "schedules": [schedule]}
    texts = {"scheduler": "fcfs+easy", "schedulers": ["fcfs"], "path": "nowhere/nothing", "metric": "mean_wait"}
    numbers = {"processors": 16, "number": 10, "load": 0.9, "tau": 10, "seed": 1}
    return {**of_jobs, **texts, **numbers, "rng": rng, "cluster": NODES, "text": "fcfs"}


CALLABLES = dict(public_callables())


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    return samples()


@pytest.mark.parametrize("name", [name for name in CALLABLES if name not in UNCHECKED])
def test_every_public_callable_tells_an_argument_of_a_wrong_type(name, known, tmp_path, monkeypatch) -> None:
    """Each argument in turn is wrong; the others are samples by their names, or wrong as well if there is none."""
    monkeypatch.chdir(tmp_path)
    try:
        parameters = inspect.signature(CALLABLES[name]).parameters.values()
    except (TypeError, ValueError):
        pytest.skip("a class without a signature")
    parameters = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    for parameter in parameters:
        given = {one.name: known.get(one.name, Wrong()) for one in parameters if one.default is one.empty}
        given[parameter.name] = Wrong()
        placed = [given.pop(one.name) for one in parameters if one.kind == one.POSITIONAL_ONLY and one.name in given]
        try:
            CALLABLES[name](*placed, **given)
        except SchedlabError:
            continue
        except Exception as error:
            pytest.fail(f"{name}({parameter.name}=<wrong>): {type(error).__name__}: {error}")


def instances(known: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield an object of each public class of which there is a sample, or that is made of samples by their names."""
    samples = {type(value): value for value in (*known.values(), sl.compare(known["jobs"], schedulers=["fcfs", "saf"]))}
    for name, kind in public():
        if not inspect.isclass(kind) or issubclass(kind, BaseException) or inspect.isabstract(kind):
            continue
        try:
            needed = [one for one in inspect.signature(kind).parameters.values() if one.default is one.empty]
            yield name, samples[kind] if kind in samples else kind(**{one.name: known[one.name] for one in needed})
        except (SchedlabError, KeyError, TypeError, ValueError):
            continue


def test_every_method_of_a_public_class_tells_an_argument_of_a_wrong_type(known, tmp_path, monkeypatch) -> None:
    """Each argument in turn is wrong, as above."""
    monkeypatch.chdir(tmp_path)
    raw, called = [], 0
    for name, thing in instances(known):
        for member, _ in inspect.getmembers(type(thing), inspect.isfunction):
            if member.startswith("_") or f"{name}.{member}" in UNCHECKED_METHODS:
                continue
            method = getattr(thing, member)
            parameters = inspect.signature(method).parameters.values()
            parameters = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
            for parameter in parameters:
                given = {one.name: known.get(one.name, Wrong()) for one in parameters if one.default is one.empty}
                given[parameter.name] = Wrong()
                placed = [given.pop(one.name) for one in parameters if one.kind == one.POSITIONAL_ONLY]
                called += 1
                try:
                    method(*placed, **given)
                except SchedlabError:
                    continue
                except Exception as error:
                    raw.append(f"{name}.{member}({parameter.name}=<wrong>): {type(error).__name__}: {error}")
    assert not raw, "\n".join(raw)
    assert called > 100


def test_what_is_told_names_function_argument_value_and_type():
    for call, told in (
        (lambda: sl.model.lublin(9, 16, rng="x"), "lublin(rng='x'): must be a numpy.random.Generator"),
        (lambda: sl.read_swf(3), "read_swf(path=3): must be a text or a path"),
        (lambda: sl.clean(3), "an int is not a workload"),
        (lambda: sl.write_swf("jobs", "a.swf"), "write_swf(workload='jobs'): must be a Workload"),
    ):
        with pytest.raises(InputError) as error:
            call()
        assert told in str(error.value)


def test_an_error_that_is_not_of_a_type_stays_what_it_is():
    @explained
    def broken(number: int) -> int:
        return [1][number]

    with pytest.raises(IndexError):
        broken(5)
    with pytest.raises(TypeError, match="missing 1 required"):
        broken()  # type: ignore[call-arg]
