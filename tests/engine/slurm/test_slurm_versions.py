"""Rules that differ by version of Slurm: as slurmctlds 24.11 and 26.05 did it, in the cases recorded on 22.05.

The expectations of `conformance/slurm-versions.json` are the answers of an unmodified slurmctld 24.11.5 and 26.05.5 to
cases of other files there, in up to two phases of its loops: starts, or begin and end of each run. Their main loops
tick on full seconds, so that the model may be `WITHIN` seconds away.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_preemption_by_hand import CASES as PREEMPTION
from test_preemption_by_hand import agree, scheduler_of
from test_preemption_by_hand import runs_of as runs_with_preemption
from test_requeues_by_hand import CASES as REQUEUES
from test_requeues_by_hand import prepared_of, runs_of
from test_rules_by_hand import RECORDED as RULES_OF_PASSES
from test_rules_by_hand import modelled as modelled_site
from test_slurm_by_hand import CASES as BY_HAND
from test_slurm_by_hand import modelled

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.reference.simulate import replay, simulate_plain
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.scheduler import Scheduler
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.slurm_versions import MODELLED, NOT_MODELLED, RULES, VERSIONS, differing

ROOT = Path(__file__).parents[3]
RECORDED = json.loads((ROOT / "conformance" / "slurm-versions.json").read_text(encoding="utf-8"))
WITHIN = 4
"""Seconds: a tick or two of main loops, and the three by which a main pass may be put off."""
ANSWERS = [(answer, version) for answer in RECORDED for version in answer["versions"]]
CASE = {
    (file, case["name"]): case
    for file, cases in (
        ("slurm-by-hand.json", BY_HAND),
        ("slurm-rules.json", RULES_OF_PASSES),
        ("slurm-requeues.json", REQUEUES),
        ("slurm-preemption.json", PREEMPTION),
    )
    for case in cases
}


def following(scheduler, version):
    """Return a scheduler that follows a version of Slurm."""
    if not isinstance(scheduler.backfill, Slurm):
        return scheduler
    return replace(scheduler, backfill=replace(scheduler.backfill, version=version))


def starts_near(found, phases):
    """Return whether some phase shows these starts."""
    return any(np.abs(np.array(found) - np.array(starts)).max() <= WITHIN for starts in phases)


def nodes_of(case):
    """Return the machine of a case made by hand, as nodes of one core."""
    return Cluster.of_nodes([NodeGroup(tuple(f"n{number}" for number in range(case["nodes"])), cores=1)])


def agrees(answer, version, directory):
    """Return whether the model of a version answers a case as a real one did."""
    case = CASE[answer["file"], answer["name"]]
    if answer["file"] == "slurm-by-hand.json":
        text = following(Scheduler.parse(case["scheduler"]), version).text
        return starts_near(modelled(simulate, {**case, "scheduler": text}, cluster=nodes_of(case)), answer["starts"])
    if answer["file"] == "slurm-rules.json":

        def as_version(jobs, scheduler, cluster):
            return simulate(jobs, following(scheduler, version), cluster=cluster)

        return starts_near(modelled_site(as_version, case, directory), answer["starts"])
    if answer["file"] == "slurm-requeues.json":
        text = following(Scheduler.parse(case["scheduler"]), version).text
        found = runs_of(replay(prepared_of({**case, "scheduler": text}, directory)))
    else:

        def scheduled(case, cluster):
            return following(scheduler_of(case, cluster), version)

        found = runs_with_preemption(case, directory, scheduled)
    return agree(found, answer["runs"], WITHIN)


@pytest.mark.parametrize(("answer", "version"), ANSWERS, ids=lambda one: one if isinstance(one, str) else one["name"])
def test_the_model_of_a_version_does_as_a_real_one_did(answer, version, tmp_path):
    assert agrees(answer, version, tmp_path) is ("differs" not in answer)


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_is_decided_by_a_case_in_which_the_version_without_it_did_otherwise(rule, tmp_path):
    deciding = [(answer, version) for answer, version in ANSWERS if answer.get("rule") == rule]
    others = RULES[rule].versions if MODELLED not in RULES[rule].versions else set(VERSIONS) - {*RULES[rule].versions}
    assert {version for _, version in deciding} >= {*others}
    for answer, version in deciding:
        if version in others:
            assert not agrees(answer, MODELLED, tmp_path), "by the rules of 22.05 it would be as in that version, too"


@pytest.mark.parametrize("name", ["no reservation behind a staircase", "two in turn", "two reservations in one minute"])
def test_on_processors_and_on_nodes_and_by_the_twin_a_version_does_the_same(name):
    case = CASE["slurm-by-hand.json", name]
    for version in VERSIONS[1:]:
        asked = {**case, "scheduler": f"fcfs+slurm(version={version})"}
        on_nodes = modelled(simulate, asked, cluster=nodes_of(case))
        assert modelled(simulate, asked) == modelled(simulate_plain, asked) == on_nodes


def test_most_recorded_answers_agree():
    assert len(ANSWERS) >= 300
    assert sum("differs" in answer for answer, _ in ANSWERS) / len(ANSWERS) < 0.15


def test_the_table_says_of_each_rule_where_it_holds_and_where_it_was_seen():
    for rule in (*RULES.values(), *NOT_MODELLED):
        assert set(rule.versions) < set(VERSIONS)
        assert (ROOT / "conformance" / rule.seen.partition(":")[0]).exists()
    assert not {rule.name for rule in NOT_MODELLED} & set(RULES)


def test_the_page_has_every_rule_of_the_table_and_says_how_many_answers_agree():
    page = (ROOT / "docs" / "reference" / "slurm.md").read_text(encoding="utf-8")
    for rule in (*RULES.values(), *NOT_MODELLED):
        assert rule.meaning in page
    agreeing = sum("differs" not in answer for answer, _ in ANSWERS)
    assert f"Of {len(ANSWERS)} answers" in page
    assert f"agrees in {agreeing} within four seconds" in page


def test_unknown_versions_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"slurm: version=23\.11; known are 22\.05 and 24\.11 and 26\.05"):
        Scheduler.parse("fcfs+slurm(version=23.11)")
    assert Scheduler.parse("fcfs+slurm(version=22.05)").text == "fcfs+slurm"


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_is_turned_round_holds_where_it_does_not_and_no_other_changes(rule: str) -> None:
    for version in VERSIONS:
        plain, turned = Slurm(version=version), Slurm(version=version, otherwise=rule)  # type: ignore[arg-type]
        assert [name for name in RULES if plain.follows(name) != turned.follows(name)] == [rule]
        assert Slurm.parse(turned.text) == turned


def test_a_version_with_all_that_differs_turned_round_is_the_other_version() -> None:
    differ = "/".join(rule.name for rule in differing("22.05", "26.05"))
    turned = Slurm(otherwise=differ)
    assert all(turned.follows(name) == Slurm(version="26.05").follows(name) for name in RULES)


def test_only_rules_of_the_table_can_be_turned_round() -> None:
    with pytest.raises(InputError, match=r"otherwise=patience; known are passes_rest, searches_whole_plan"):
        Scheduler.parse("fcfs+slurm(otherwise=passes_rest/patience)")
