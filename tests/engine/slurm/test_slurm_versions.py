"""Rules that differ by version of Slurm: as slurmctlds 24.11 and 26.05 did it, in the cases recorded on 22.05.

The expectations of `conformance/slurm-versions.json` are the answers of an unmodified slurmctld 24.11.5 and 26.05.5 to
cases of other files there, in up to two phases of its loops. Their main loops tick on full seconds, so that the model
may be some seconds away (`version_cases.WITHIN`).
"""

from __future__ import annotations

import json

import pytest
from test_slurm_by_hand import modelled
from version_cases import CASE, ROOT, agrees, nodes_of

from schedlab.engine.machine.numbers import NodeRules
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.scheduler import Scheduler
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.slurm_versions import NOT_MODELLED, OF_NODES, RULES, VERSIONS, differing

RECORDED = json.loads((ROOT / "conformance" / "slurm-versions.json").read_text(encoding="utf-8"))
ANSWERS = [(answer, version) for answer in RECORDED for version in answer["versions"]]
OF_FILES = "22.05"
"""The version whose answers are in the files of the cases themselves."""

BY_CHOICES = ("usable_cores_count", "least_leave_in_turn")
"""Rules that `test_choices_of_versions.py` holds against choices, and no single case decides."""


@pytest.mark.parametrize(("answer", "version"), ANSWERS, ids=lambda one: one if isinstance(one, str) else one["name"])
def test_the_model_of_a_version_does_as_a_real_one_did(answer, version, tmp_path):
    assert agrees(answer, version, tmp_path) is ("differs" not in answer)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in BY_CHOICES])
def test_each_rule_is_decided_by_a_case_in_which_the_version_without_it_did_otherwise(rule, tmp_path):
    deciding = [(answer, version) for answer, version in ANSWERS if answer.get("rule") == rule]
    others = RULES[rule].versions if OF_FILES not in RULES[rule].versions else set(VERSIONS) - {*RULES[rule].versions}
    assert {version for _, version in deciding} >= {*others}
    for answer, version in deciding:
        if version in others:
            assert not agrees(answer, OF_FILES, tmp_path), "by the rules of 22.05 it would be as in that version, too"


@pytest.mark.parametrize("name", ["no reservation behind a staircase", "two in turn", "two reservations in one minute"])
def test_on_processors_and_on_nodes_and_by_the_twin_a_version_does_the_same(name):
    case = CASE["slurm-by-hand.json", name]
    for version in VERSIONS[1:]:
        asked = {**case, "scheduler": f"fcfs+slurm(version={version})"}
        on_nodes = modelled(simulate, asked, cluster=nodes_of(case))
        assert modelled(simulate, asked) == modelled(simulate_plain, asked) == on_nodes


def test_most_recorded_answers_agree():
    assert len(ANSWERS) >= 1100
    assert sum("differs" in answer for answer, _ in ANSWERS) / len(ANSWERS) < 0.08


def test_the_table_says_of_each_rule_where_it_holds_and_where_it_was_seen():
    for rule in (*RULES.values(), *NOT_MODELLED):
        assert set(rule.versions) < set(VERSIONS)
        assert all((ROOT / "conformance" / file).exists() for file in rule.seen.partition(":")[0].split(", "))
    assert not {rule.name for rule in NOT_MODELLED} & set(RULES)


def test_rules_of_nodes_are_rules_of_the_table():
    # The last two are of plans, and of nodes that are switched off.
    assert (*NodeRules._fields, "own_ends", "rates_forget_shares") == OF_NODES
    assert not set(OF_NODES) - set(RULES)


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


def test_a_text_that_names_no_version_follows_the_newest_and_does_not_say_so():
    newest = Scheduler.parse("fcfs+slurm").backfill
    assert newest.followed == "26.05" == VERSIONS[-1]
    assert all(newest.follows(name) == ("26.05" in rule.versions) for name, rule in RULES.items())
    assert Scheduler.parse("fcfs+slurm").text == "fcfs+slurm"
    assert Scheduler.parse("fcfs+slurm(version=26.05)").text == "fcfs+slurm(version=26.05)"


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_is_turned_round_holds_where_it_does_not_and_no_other_changes(rule: str) -> None:
    for version in VERSIONS:
        plain, turned = Slurm(version=version), Slurm(version=version, otherwise=rule)  # type: ignore[arg-type]
        assert [name for name in RULES if plain.follows(name) != turned.follows(name)] == [rule]
        assert Slurm.parse(turned.text) == turned


def test_a_version_with_all_that_differs_turned_round_is_the_other_version() -> None:
    differ = "/".join(rule.name for rule in differing("22.05", "26.05"))
    turned = Slurm(version="22.05", otherwise=differ)
    assert all(turned.follows(name) == Slurm(version="26.05").follows(name) for name in RULES)


def test_only_rules_of_the_table_can_be_turned_round() -> None:
    with pytest.raises(InputError, match=r"otherwise=patience; known are passes_rest, searches_whole_plan"):
        Scheduler.parse("fcfs+slurm(otherwise=passes_rest/patience)")
