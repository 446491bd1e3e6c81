"""The table of parameters: held against the readers, so that nothing is called modelled that nobody reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.cluster import sacctmgr, slurm_nodes, slurm_partitions
from schedlab.site.parameters import PLACES, STATUSES, known, parameters
from schedlab.site.reference import page
from schedlab.slurm.replaced import CHANGED, DROPPED

PROJECT = Path(__file__).resolve().parents[2]
WRONG = {"coresspecplugin", "jobsubmitscript"}
"""Names that the laboratory drops and Slurm does not have."""


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ("NodeName", slurm_nodes.USED | set(slurm_nodes.UNUSED)),
        ("PartitionName", set(slurm_partitions._FIELDS) | set(slurm_partitions.UNUSED)),
        ("sacctmgr", set(sacctmgr._LIMITS) | set(sacctmgr._IGNORED)),
        ("sacctmgr QOS flags", set(sacctmgr._QOS_FLAGS)),
        ("slurm.conf", (set(CHANGED) | set(DROPPED)) - WRONG),
    ],
)
def test_the_table_knows_all_that_the_readers_know(place, names):
    assert not {name for name in names if known(place, name) is None}


def test_what_a_reader_does_not_use_is_not_called_modelled():
    for place, unused in (("NodeName", slurm_nodes.UNUSED), ("PartitionName", slurm_partitions.UNUSED)):
        for name in unused:
            assert known(place, name).status != "modelled" or name == "state", name


def test_every_row_has_a_place_a_status_and_a_reason_and_names_a_test_that_exists():
    for one in parameters().values():
        assert one.place in PLACES
        assert one.status in STATUSES
        assert one.how
        assert not one.tested or (PROJECT / one.tested).is_file(), one


def test_the_reference_page_is_made_from_the_table():
    """Make it anew with `python -m schedlab.site.reference > docs/reference/site-parameters.md`."""
    assert (PROJECT / "docs" / "reference" / "site-parameters.md").read_text(encoding="utf-8") == page()
