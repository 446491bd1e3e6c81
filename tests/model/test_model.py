"""Model files, limits, and stand-ins for machines of another size."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from model_samples import HOUR, log_of

from schedlab.errors import InputError
from schedlab.model.edison import EDISON_TOY
from schedlab.model.fit import fit_model
from schedlab.model.jobs import COLUMNS
from schedlab.model.model import WorkloadModel

MODELS = {
    "joint": lambda: fit_model(log_of(), users=True),
    "independent": lambda: fit_model(log_of(), joint=False, users=True),
    "scsf": lambda: fit_model(log_of(), rules="scsf", cores_per_node=2),
    "cycle": lambda: fit_model(log_of(4_000), cycle="day"),
    "edison": lambda: EDISON_TOY,
}


INDEPENDENT = EDISON_TOY.jobs.to_dict()
"""The jobs of a model file, undamaged."""


@pytest.mark.parametrize("kind", MODELS)
def test_a_file_gives_the_model_back(kind, tmp_path):
    model = MODELS[kind]()
    model.save(tmp_path / "model.json")
    again = WorkloadModel.load(tmp_path / "model.json")
    assert again.to_dict() == json.loads(json.dumps(model.to_dict()))
    jobs = [one.draw_jobs(np.random.default_rng(1), 300) for one in (model, again)]
    assert all(jobs[0][name].tolist() == jobs[1][name].tolist() for name in COLUMNS)
    gaps = [one.draw_gaps(np.random.default_rng(1), 300) for one in (model, again)]
    assert gaps[0].tolist() == gaps[1].tolist()
    assert model.arrival_times(7.0, gaps[0]).tolist() == again.arrival_times(7.0, gaps[1]).tolist()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("not JSON", "it is not JSON"),
        ("[1]", "is not a workload model: write one with"),
        ('{"version": 1}', "is not a workload model"),
        ('{"schedlab_workload_model": 2}', "of version 2; this schedlab reads 1"),
        ('{"schedlab_workload_model": 1}', "damaged workload model: .* is missing; fit it again"),
    ],
)
def test_what_is_no_model_is_refused(text, reason, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(InputError, match=reason):
        WorkloadModel.load(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("processors", 0),
        ("processors", "many"),
        ("rules", "theirs"),
        ("cycle", [1.0] * 3),
        ("gaps", {}),
        ("jobs", {"kind": "joint"}),
        ("jobs", {"kind": "joint", "counts": [1]} | {name: [0] for name in COLUMNS}),
        ("limits", {"processors": 3}),
        ("provenance", 5),
        ("provenance", {"jobs_in_log": "many"}),
        ("provenance", {"filtered": [{"rule": "rare-huge"}]}),
        ("provenance", {"scaled": [None]}),
        ("provenance", {"settings": {"filters": None}}),
        ("provenance", {"settings": {"unknown": 1}}),
        ("provenance", {"settings": "none"}),
        ("processors", float("inf")),
        ("processors", 47),  # its widest jobs have 48
        ("cores_per_node", 0),
        ("cores_per_node", 97),
        ("longest_gap", 0),
        ("longest_gap", -1),
        ("limits", dict.fromkeys(("processors", "run_time", "work", "wide", "long"), "many")),
        ("gaps", {"in_bin": "low", "low": [1], "high": [1e30], "cumulative": [1]}),
        ("jobs", INDEPENDENT | {"processors": {"in_bin": "low", "low": [0], "high": [1], "cumulative": [1]}}),
        ("jobs", INDEPENDENT | {"accuracy": {"in_bin": "low", "low": [-1], "high": [1], "cumulative": [1]}}),
    ],
)
def test_a_damaged_model_is_refused_in_one_sentence(field, value, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(MODELS["joint"]().to_dict() | {field: value}))
    with pytest.raises(InputError, match=r"model\.json is a damaged workload model: .*; fit it again$"):
        WorkloadModel.load(path)


def test_there_is_no_such_file(tmp_path):
    with pytest.raises(InputError, match="cannot read the workload model: No such file"):
        WorkloadModel.load(tmp_path / "none.json")


@pytest.mark.parametrize("joint", [True, False])
def test_a_stand_in_keeps_shares_of_the_machine_and_times(joint):
    model = fit_model(log_of(), joint=joint)
    larger = model.scaled_to(96 * 10, 16)
    before, after = (one.draw_jobs(np.random.default_rng(1), 2_000) for one in (model, larger))
    # 2 of 96 are 20 of 960, the nearest number of nodes is one; 48 of 96 are half of it.
    assert {(a, b) for a, b in zip(before["processors"].tolist(), after["processors"].tolist(), strict=True)} == {
        (2, 16),
        (48, 480),
    }
    assert (before["run_time"] == after["run_time"]).all()
    note = larger.provenance["scaled"][-1]
    assert (note["from_processors"], note["to_processors"], note["cores_per_node"]) == (96, 960, 16)
    assert note["load_factor_of_rounding"] == pytest.approx(larger.offered_load / model.offered_load)
    assert larger.offered_load < model.offered_load


def test_a_stand_in_for_a_small_machine_has_jobs_of_a_node_at_least():
    smaller = fit_model(log_of()).scaled_to(8)
    assert set(smaller.draw_jobs(np.random.default_rng(1), 500)["processors"]) == {1, 4}


@pytest.mark.parametrize(("processors", "node"), [(0, None), (100, 24), (24, 0)])
def test_a_machine_that_cannot_be_is_refused(processors, node):
    with pytest.raises(InputError, match="is impossible"):
        fit_model(log_of()).scaled_to(processors, node)


def test_limits_belong_to_their_machine():
    assert EDISON_TOY.scaled_to(96).limits is None
    jobs = np.array([40_000]), np.array([HOUR])
    assert EDISON_TOY.rejects(*jobs).tolist() == [True]
    assert replace(EDISON_TOY, limits=None).rejects(*jobs).tolist() == [False]


def test_arrivals_without_a_cycle_follow_each_other_by_the_gaps():
    model = fit_model(log_of())
    assert model.arrival_times(100.0, np.array([1.0, 2.5, 0.0])).tolist() == [101, 103.5, 103.5]
    assert model.arrival_intensity([0, 10**6]).tolist() == [1, 1]
