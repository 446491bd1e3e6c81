"""ATC'23: arrivals, the rules of placement by hand, fragmentation against its definition, and the published results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from schedlab import Cluster, InputError, Workload
from schedlab.cluster import NodeGroup
from schedlab.workload.resources import Resources
from schedlab_papers import fgd
from schedlab_papers.fgd_pods import (
    FOLDER,
    LOADS,
    NODES,
    POD_LISTS,
    Machines,
    Pods,
    arrivals,
    curve,
    pods_of,
    published,
    read_machines,
    read_pods,
)
from schedlab_papers.fgd_rules import KINDS, RULES, Free, Gradient, Pod, place, typical_pods

ANY = np.array([True, True])


def pods(*rows: tuple[int, int, int]) -> Pods:
    """Pods of cores (thousandths), GPUs and the thousandths of each; no memory, any model."""
    cores, gpus, share = np.array(rows, dtype=np.int64).T
    return Pods(cores, np.zeros_like(cores), gpus, share, np.tile(ANY, (len(rows), 1)))


def machines(*gpus: int, cores: int = 8_000) -> Machines:
    """Nodes with so many GPUs, the first of model 0 and the others of model 1."""
    count = len(gpus)
    devices = np.where(np.arange(8) < np.array(gpus)[:, None], 1000, 0)
    groups = [NodeGroup.of([f"n{i}"], cores=cores, gpus={"ab"[i > 0]: one}) for i, one in enumerate(gpus)]
    model = (np.arange(count) > 0).astype(np.int64)
    every = np.full(count, cores)
    return Machines(every, np.full(count, 1000), devices, model, ("a", "b"), Cluster.of_nodes(groups))


def free(*gpus: tuple[int, ...], cores: int = 8_000, kinds: tuple[tuple[int, ...], ...] = ()) -> Free:
    """Nodes with these thousandths free, and kinds of pods on them."""
    there = np.zeros((len(gpus), KINDS), dtype=np.bool_)
    for node, numbers in enumerate(kinds):
        there[node, list(numbers)] = True
    every = np.full(len(gpus), cores)
    return Free(every, np.full(len(gpus), 1000), np.array(gpus), there)


def test_pods_are_drawn_until_the_load_is_one_point_three_times_the_gpus():
    asked = pods((1000, 1, 500), (1000, 2, 1000), (1000, 0, 0))
    for seed in range(20):
        order = arrivals(asked, machines(8, 2), np.random.default_rng(seed))
        assert sorted(order[:3]) == [0, 1, 2]
        load = asked.load[order].sum()
        assert 13_000 - 2_000 < load <= 13_000 + 1_000, "as the authors' program, it counts one GPU of the next pod"


def test_the_curve_is_the_mean_share_in_use_at_each_rounded_load():
    load = np.array([500, 400, 200, 8_900])
    found = curve(load, np.array([True, True, False, True]), 100_000)
    assert found[1] == pytest.approx((0.5 + 0.9 + 0.9) / 3 if round(0.5) == 1 else (0.9 + 0.9) / 2)
    assert found[10] == pytest.approx(9.8)
    assert np.isnan(found[50])


def test_typical_pods_are_the_most_frequent_up_to_95_per_cent():
    rows = [(1000, 1, 500)] * 90 + [(2000, 1, 1000)] * 6 + [(4000, 8, 1000)] * 4
    share, typical = typical_pods(pods(*rows))
    assert typical.cores.tolist() == [1000, 2000]
    assert share.tolist() == pytest.approx([90 / 96, 6 / 96])


def fragmentation(share: np.ndarray, typical: Pods, cores: int, gpus: np.ndarray, model: int) -> float:
    """The definition, pod by pod and GPU by GPU (section 4 of the paper)."""
    total = 0.0
    for i in range(len(share)):
        fits = [int(one) for one in gpus if one >= typical.share[i]]
        fragments = int(gpus.sum())
        enough = typical.gpus[i] > 0 and typical.models[i, model] and cores >= typical.cores[i]
        if enough and len(fits) >= typical.gpus[i]:
            fragments -= sum(fits)
        total += share[i] * fragments
    return total


def test_fragmentation_from_tables_is_what_its_definition_says():
    rng = np.random.default_rng(5)
    count = 60
    gpus = rng.choice([0, 1, 1, 1, 2, 4, 8], count)
    share = np.where(gpus == 1, rng.choice([100, 250, 500, 700, 1000], count), np.where(gpus > 0, 1000, 0))
    models = rng.random((count, 2)) < 0.7
    models[~models.any(axis=1)] = True
    asked = Pods(rng.integers(1, 9, count) * 1000, np.zeros(count, dtype=np.int64), gpus, share, models)
    gradient = Gradient.of(asked, machines(8, 8))
    weights, typical = typical_pods(asked)
    nodes = rng.choice([0, 120, 300, 500, 999, 1000, 1000], (40, 8))
    cores, model = rng.integers(0, 10_000, 40), rng.integers(0, 2, 40)
    found = nodes.sum(axis=1) - gradient.useful(model, cores, nodes)
    expected = [fragmentation(weights, typical, cores[i], nodes[i], model[i]) for i in range(40)]
    assert found == pytest.approx(expected)


def test_a_part_of_a_gpu_scores_as_if_it_were_taken():
    asked = pods((1000, 1, 500), (1000, 1, 500), (2000, 2, 1000), (1000, 1, 300))
    gradient = Gradient.of(asked, machines(4, 4))
    weights, typical = typical_pods(asked)
    here, model = free((1000, 500, 400, 0)), np.array([1])
    before = fragmentation(weights, typical, 8_000, here.gpus[0], 1)
    expected = []
    for device in range(4):
        gpus = here.gpus[0].copy()
        gpus[device] -= 400
        after = fragmentation(weights, typical, 7_000, gpus, 1)
        expected.append(int(100 / (1 + np.exp((after - before) / 1000))) if gpus[device] >= 0 else -1)
    pod = Pod(1000, 0, 1, 400, ANY)
    assert gradient.scores(pod, here, model)[0] == max(expected)
    assert gradient.device(pod, here, 0, 1) == expected.index(max(expected))


def test_clustering_prefers_nodes_with_pods_of_the_kind_alone_then_beside_others_then_idle_ones():
    nodes = free((0, 1000), (500, 1000), (1000, 1000), (500, 500), kinds=((1,), (0, 1), (), (0,)))
    scores = RULES["GpuClustering"](Pod(1000, 0, 1, 500, ANY), nodes, np.zeros(4, dtype=np.int64))
    assert np.argsort(-scores).tolist() == [3, 1, 2, 0]


def test_packing_prefers_parts_of_gpus_then_nodes_in_use_then_idle_ones():
    nodes = free((1000, 1000), (0, 1000), (600, 1000), (900, 0), kinds=((), (1,), (0,), (0,)))
    scores = RULES["GpuPacking"](Pod(1000, 0, 1, 500, ANY), nodes, np.zeros(4, dtype=np.int64))
    assert scores.tolist() == [31, 49, 94, 91]


def test_best_fit_and_dot_product_by_hand():
    nodes = free((1000,) * 8, (1000, *[0] * 7), cores=64_000)
    pod = Pod(32_000, 0, 1, 500, ANY)
    model = np.zeros(2, dtype=np.int64)
    left = [(32 / 128 + 7.5 / 8) / 2, (32 / 128 + 0.5 / 8) / 2]
    product = [(64 / 128 * 32 / 128 + 8 / 8 * 0.5 / 8) / 2, (64 / 128 * 32 / 128 + 1 / 8 * 0.5 / 8) / 2]
    assert RULES["BestFit"](pod, nodes, model).tolist() == [int(100 * (1 - one)) for one in left] == [40, 84]
    assert RULES["DotProd"](pod, nodes, model).tolist() == [int(100 * (1 - one)) for one in product] == [90, 93]


def test_ties_go_to_the_first_node_of_an_order_or_to_any():
    asked = pods(*[(10, 0, 0)] * 40)
    for rule in ("GpuPacking", "FGD"):
        order = np.arange(40)
        assert place(asked, order, machines(2, 2, 2), rule, np.random.default_rng(1)).all()
    crowded = pods(*[(8_000, 0, 0)] * 4)
    assert place(crowded, np.arange(4), machines(2, 2, 2), "BestFit", np.random.default_rng(1)).tolist() == [
        *[True] * 3,
        False,
    ]


def test_a_pod_without_room_does_not_stop_those_behind_it():
    asked = pods((1000, 2, 1000), (1000, 2, 1000), (1000, 1, 500), (1000, 1, 600))
    for rule in (*RULES, "FGD"):
        assert place(asked, np.arange(4), machines(3), rule, np.random.default_rng(1)).tolist() == [
            *(True, False),
            *(True, False),
        ]


def test_the_engine_places_each_pod_on_its_arrival_whoever_waits():
    resources = Resources.of(4, nodes=[1] * 4, cores_per_task=[1000] * 4, gpus=[2, 2, 1, 1], gpu_share=[1000] * 4)
    columns = {
        "submit_time": [0, 0, 0, 0],
        "run_time": [1] * 4,
        "requested_time": [1] * 4,
        "requested_processors": [1000] * 4,
    }
    there = machines(3)
    jobs = Workload.from_columns(columns, processors=there.cluster.processors).replace(resources=resources)
    arriving = fgd._one_a_second(jobs, np.arange(4), there)
    for rule in fgd.OWN_RULES:
        assert fgd.placed_by_engine(arriving, there, rule).tolist() == [True, False, True, False]


def test_no_list_at_all_and_an_unknown_one_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="has none of the traces"):
        fgd.reproduce(tmp_path)
    with pytest.raises(InputError, match="has no log multi"):
        fgd.reproduce(tmp_path, logs=["multi"])


def test_the_nodes_and_pods_are_those_of_the_paper(traces: Path):
    """1,213 of the 1,523 nodes have GPUs: 6,212 of them."""
    if not (traces / FOLDER / NODES).is_file():
        pytest.skip(f"needs {FOLDER}/{NODES} in SCHEDLAB_TRACES")
    found = read_machines(traces)
    assert (len(found.cores), found.all_gpus, found.cores.max()) == (1213, 6_212_000, 128_000)
    jobs = read_pods(traces, POD_LISTS[2])
    asked = pods_of(jobs, found)
    assert len(asked.cores) == 8152
    assert asked.load.sum() == 6_086_800
    assert np.count_nonzero(~asked.models.all(axis=1)) == 2388
    theirs = published(traces)
    assert len(theirs) == 18
    assert {lines.shape for lines in theirs.values()} == {(10, len(LOADS))}


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["Random", "DotProd", "GpuClustering", "GpuPacking", "BestFit", "FGD"])
def test_a_run_lies_among_the_published_ones(policy: str, traces: Path):
    """Each is one more draw of what the authors drew ten times: within four of their standard deviations."""
    if not (traces / FOLDER / NODES).is_file():
        pytest.skip(f"needs {FOLDER}/{NODES} in SCHEDLAB_TRACES")
    there = read_machines(traces)
    asked = pods_of(read_pods(traces, POD_LISTS[0]), there)
    order = arrivals(asked, there, np.random.default_rng([0]))
    placed = place(asked, order, there, policy, np.random.default_rng([0, 1]))
    ours = curve(asked.load[order], placed, there.all_gpus)
    theirs = published(traces)["openb_pod_list_default", policy]
    for load in (100, 120):
        sample = theirs[:, load]
        assert abs(ours[load] - sample.mean()) <= 4 * sample.std(ddof=1)
