"""Power models: groups of nodes, files, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.energy.power import GroupPower, Power
from schedlab.energy.power_file import files_of, read_power
from schedlab.errors import InputError

SITE = Cluster.of_nodes(
    [
        NodeGroup.of("n[1-3]", cores=4, features=["old"]),
        NodeGroup.of("g1", cores=8, gpus=2, features=["fast", "gpu"]),
    ]
)


def test_groups_are_named_by_nodes_by_features_or_are_the_rest():
    power = Power(
        (
            GroupPower.of(idle=10, busy=20, nodes="n2"),
            GroupPower(30, 40),
            GroupPower(50, 90, feature="gpu", gpu=7),
        )
    )
    watts = power.on(SITE).watts_of(SITE.nodes)
    assert watts.idle.tolist() == [30, 10, 30, 50]
    assert watts.busy.tolist() == [40, 20, 40, 90]
    assert watts.gpu.tolist() == [0, 0, 0, 7]
    assert (watts.off.tolist(), watts.boot.tolist()) == ([0] * 4, [40, 20, 40, 90])


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ([{"idle": -1, "busy": 5}], "idle is -1: must be a number of watts"),
        ([{"idle": 1, "busy": math.inf}], "busy is inf: must be a number of watts"),
        ([{"idle": 9, "busy": 5}], "a busy node draws 5 W, less than an idle one (9 W)"),
        ([{"idle": 1, "busy": 5, "cores": 0}], "cores=0: must be a whole number of 1 or more"),
        ([{"idle": 1, "busy": 5, "nodes": "n1", "feature": "old"}], "give nodes or feature, not both"),
        ([], "the power model has no groups of nodes"),
        ([{"idle": 1, "busy": 5}, {"idle": 1, "busy": 6}], "two groups of the power model name neither nodes nor"),
        ([{"idle": 1, "busy": 5, "nodes": "n1"}, {"idle": 1, "busy": 6, "nodes": "n[1-2]"}], "gives node n1 twice"),
        ([{"idle": 1, "busy": 5, "feature": "x"}, {"idle": 1, "busy": 6, "feature": "x"}], "gives feature x twice"),
    ],
)
def test_what_no_machine_draws_is_refused(groups, told):
    with pytest.raises(InputError) as error:
        Power(tuple(GroupPower.of(**group) for group in groups))
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"pue": 0.9}, "pue=0.9: must be 1 or more"),
        ({"base": -1}, "base is -1: must be a number of watts"),
        ({"intensity": -5}, "intensity: -5 is below 0"),
        ({"cap": -5}, "cap: -5 is below 0"),
        ({"price": "cheap"}, "price='cheap': give a number, or a series"),
    ],
)
def test_what_no_site_has_is_refused(given, told):
    with pytest.raises(InputError) as error:
        Power((GroupPower(1, 2),), **given)
    assert told in str(error.value)


def test_prices_may_be_negative_as_those_of_markets_are():
    assert Power((GroupPower(1, 2),), price=-0.01).price.values.tolist() == [-0.01]


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ([{"idle": 1, "busy": 2, "feature": "slow"}], "no node of cluster has it; its features are fast, gpu, old"),
        ([{"idle": 1, "busy": 2, "nodes": "n[1-3]"}], "does not say what node g1 draws: add a group without nodes"),
        ([{"idle": 1, "busy": 2, "nodes": "n[1-4]"}], "names node n4, which the machine does not have"),
        ([{"idle": 1, "busy": 2, "feature": "gpu"}, {"idle": 1, "busy": 2, "feature": "fast"}], "gives node g1 twice"),
    ],
)
def test_a_model_of_another_machine_is_refused(groups, told):
    with pytest.raises(InputError) as error:
        Power(tuple(GroupPower.of(**group) for group in groups)).on(SITE).watts_of(SITE.nodes)
    assert told in str(error.value)


def test_features_need_the_cluster_that_has_them():
    with pytest.raises(InputError, match="the cluster file says which nodes have it"):
        Power((GroupPower(1, 2, feature="gpu"),)).watts_of(("g1",))


def test_a_number_of_processors_has_one_group():
    for groups in ((GroupPower.of(idle=1, busy=2, nodes="n1"),), (GroupPower(1, 2, gpu=3),)):
        with pytest.raises(InputError, match="the machine is a number of processors"):
            Power(groups).of_processors()


def test_a_power_file_names_its_series_beside_it(tmp_path: Path):
    (tmp_path / "price.csv").write_text("second,price\n0,1\n10,3\n")
    file = tmp_path / "power.toml"
    file.write_text(
        'price = "price.csv"\nrepeat = ["price"]\nintensity = 50\npue = 1.5\nbase = 7\ncap = 900\n'
        '[[groups]]\nidle = 1\nbusy = 2\nnodes = "n[1-3]"\n[[groups]]\nidle = 3\nbusy = 5\nfeature = "gpu"\ngpu = 4\n'
    )
    power = read_power(file, SITE)
    assert power.price is not None
    assert (power.price.repeats, power.price.values.tolist()) == (True, [1, 3])
    assert (power.pue, power.base) == (1.5, 7)
    assert power.watts_of(SITE.nodes).idle.tolist() == [1, 1, 1, 3]
    assert files_of(file) == [file, tmp_path / "price.csv"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[groups]]\nidle = 1\n", "groups[0].busy is missing"),
        ('[[groups]]\nidle = "1"\nbusy = 2\n', "groups[0].idle: input should be a valid number"),
        ("base = 1\n", "groups is missing"),
        ('repeat = ["price"]\n[[groups]]\nidle = 1\nbusy = 2\n', "repeat names price, which is not given"),
        ('price = 3\nrepeat = ["price"]\n[[groups]]\nidle = 1\nbusy = 2\n', "which is a flat figure (3.0)"),
        ('price = "no.csv"\n[[groups]]\nidle = 1\nbusy = 2\n', "no.csv: cannot read the series"),
        ("[[groups]]\nidle = 5\nbusy = 2\n", "less than an idle one"),
    ],
)
def test_a_power_file_that_says_something_else_is_refused(tmp_path: Path, text, told):
    file = tmp_path / "power.toml"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        read_power(file)
    assert told in str(error.value)
    assert str(tmp_path) in str(error.value)
