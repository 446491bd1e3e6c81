"""The table of limits, held against all that has to know each of them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from drawn_clusters import LIMITS_OF_ASSOCIATION, LIMITS_OF_QOS

from schedlab.cluster import sacctmgr
from schedlab.cluster.limit_kinds import LIMIT_KINDS
from schedlab.cluster.limits import Limits
from schedlab.site.parameters import known

PROJECT = Path(__file__).parents[4]
SIMULATED = {kind.name for kind in LIMIT_KINDS.values() if kind.qos or kind.association}


def test_every_limit_is_a_field_and_every_field_a_limit():
    assert set(LIMIT_KINDS) == {field.name for field in fields(Limits)}
    none = Limits()
    assert {name for name, kind in LIMIT_KINDS.items() if kind.is_of_resources} == {
        field.name for field in fields(Limits) if getattr(none, field.name) == ()
    }


def test_every_simulated_limit_is_drawn_by_the_fuzzer_where_it_holds():
    assert set(LIMITS_OF_QOS) == {name for name, kind in LIMIT_KINDS.items() if kind.holds(qos=True)}
    assert set(LIMITS_OF_ASSOCIATION) == {name for name, kind in LIMIT_KINDS.items() if kind.holds(qos=False)}


def test_the_ledger_of_a_site_says_of_every_limit_whether_it_is_simulated():
    for option, target in sacctmgr._LIMITS.items():
        names = [kind.name for kind in LIMIT_KINDS.values() if kind.slurm == target.partition(":")[0]]
        if names:
            assert (known("sacctmgr", option).status == "modelled") == (names[0] in SIMULATED), option


def test_every_limit_can_be_read_from_sacctmgr_and_stands_in_the_reference_of_cluster_files():
    page = (PROJECT / "docs" / "reference" / "cluster-files.md").read_text(encoding="utf-8")
    read = {target.partition(":")[0] for target in sacctmgr._LIMITS.values()}
    for kind in LIMIT_KINDS.values():
        assert kind.slurm in read, kind.name
        assert f"`{kind.name}`" in page, kind.name
