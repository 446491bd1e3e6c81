"""Fair share on the real Slurm is what `conformance/shares-by-hand.json` says."""

from __future__ import annotations

import json

import pytest
from shares_on_slurm import CASES, on_slurm

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("real_slurm")]

RECORDED = {case["name"]: case for case in json.loads(CASES.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("name", ["accounts that tie", "the end of a job is lost", "the end of a job counts"])
def test_sshare_shows_again_what_was_recorded(name):
    assert on_slurm(RECORDED[name])[0] == RECORDED[name]["sshare"]
