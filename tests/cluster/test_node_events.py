"""Node events: what is understood, what is refused with one sentence, and what is drawn."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.parts.outages.numbers import BREAKS, CLOSES, LEAVES, NEWS, OPENS, RETURNS, outage_inputs
from schedlab.errors import InputError

HEADER = "second,event,nodes,end,announced\n"
WHOSE = "second,event,nodes,end,announced,name,users,accounts\n"


def changes(*events, first=0):
    nodes = SimpleNamespace(names=("n1", "n2"), device_offset=np.array([0, 2, 2]))
    inputs = outage_inputs(NodeEvents(events), nodes, first)
    return list(zip(inputs.second.tolist(), inputs.node.tolist(), inputs.kind.tolist(), strict=True))


def test_a_file_is_read_and_written_again(tmp_path):
    text = HEADER + '40,up,"n[1,3]",,\n3,down,"n[1,3]",,\n50,maintenance,n1,90,20\n'
    (tmp_path / "events.csv").write_text(text)
    events = NodeEvents.read(tmp_path / "events.csv", "lost")
    assert [event.second for event in events] == [3, 40, 50]
    assert events.events[0].nodes == ("n1", "n3")
    assert events.events[2] == NodeEvent(50, "maintenance", ("n1",), 90, 20)
    events.save(tmp_path / "again.csv")
    assert NodeEvents.read(tmp_path / "again.csv", "lost") == events


def test_columns_that_nobody_needs_may_be_left_out(tmp_path):
    (tmp_path / "events.csv").write_text("nodes,second,event\nn1,3,drain\n")
    assert NodeEvents.read(tmp_path / "events.csv").events == (NodeEvent(3, "drain", ("n1",)),)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1: the column second is missing"),
        ("second,event,node\n", "line 1: the column nodes is missing"),
        ("second,event,nodes,why\n", "line 1: unknown column 'why'"),
        (HEADER + "1,down,n1,,\n2,up,n1,9,\n", "line 3: only maintenance and reservations have an end"),
        (HEADER + "1,fire,n1,,\n", "line 2: unknown event 'fire'"),
        (HEADER + "soon,down,n1,,\n", "line 2: second 'soon' is not a whole number"),
        (HEADER + ",down,n1,,\n", "line 2: the line has no value for second"),
        (HEADER + "1,down,,,\n", "line 2: a down event needs nodes"),
        (HEADER + "1,down,n[2-1],,\n", "line 2: 'n[2-1]' is not a host list"),
        (HEADER + "5,maintenance,n1,5,\n", "line 2: maintenance that begins at second 5 needs a later end"),
        (HEADER + "5,maintenance,n1,9,6\n", "line 2: maintenance that begins at second 5 cannot be announced"),
        (HEADER + "5,down,n1,,,7\n", "line 2: the line has more cells"),
        (WHOSE + "5,reservation,n1,9,,,ann,\n", "line 2: the reservation that begins at second 5 needs a name"),
        (WHOSE + "5,reservation,n1,9,,r,,\n", "line 2: the reservation 'r' needs users or accounts"),
        (WHOSE + "5,reservation,n1,9,,r,-ann,\n", "line 2: the reservation 'r' denies '-ann'"),
        (WHOSE + "5,reservation,n1,5,,r,ann,\n", "line 2: reservation that begins at second 5 needs a later end"),
        (WHOSE + "5,down,n1,,,r,,\n", "line 2: only a reservation has a name, users and accounts, not down"),
    ],
)
def test_what_is_not_understood_is_named_with_file_and_line(tmp_path, text, sentence):
    (tmp_path / "events.csv").write_text(text)
    with pytest.raises(InputError) as error:
        NodeEvents.read(tmp_path / "events.csv")
    assert str(error.value).startswith(str(tmp_path / "events.csv") + ", " + sentence)


def test_an_unknown_node_is_named():
    with pytest.raises(InputError, match="no node of the cluster is called 'n3'"):
        changes(NodeEvent(5, "down", ("n3",)))


def test_a_drained_node_that_fails_ends_its_runs_and_comes_back_once():
    one = ("n2",)
    drained = NodeEvent(1, "drain", one), NodeEvent(4, "down", one), NodeEvent(6, "drain", one), NodeEvent(9, "up", one)
    assert changes(*drained) == [(1, 1, LEAVES), (4, 1, BREAKS), (9, 1, RETURNS)]


def test_a_node_that_is_up_does_not_come_back():
    assert changes(NodeEvent(1, "up", ("n1",))) == []


def test_maintenance_is_known_from_the_first_second_or_when_it_is_announced():
    always, late = NodeEvent(50, "maintenance", ("n1",), 60), NodeEvent(50, "maintenance", ("n2",), 60, 40)
    assert changes(always, late, first=7) == [
        (7, 0, NEWS),
        (40, 1, NEWS),
        (50, 0, CLOSES),
        (50, 1, CLOSES),
        (60, 0, OPENS),
        (60, 1, OPENS),
    ]


def test_drawn_failures_have_the_means_that_were_asked_for_and_a_seed_repeats_them():
    machine = Cluster.of_nodes([NodeGroup.of("n[1-200]", cores=1)])
    options = {"mtbf": 1000.0, "mttr": 100.0, "until": 100_000, "shape": 0.7}
    events = NodeEvents.drawn(machine, rng=1, **options)
    assert events == NodeEvents.drawn(machine, rng=np.random.default_rng(1), **options)
    assert events != NodeEvents.drawn(machine, rng=2, **options)
    by_node = {}
    for event in events:
        by_node.setdefault(event.nodes[0], []).append(event)
    assert all([event.event for event in own] == ["down", "up"] * (len(own) // 2) for own in by_node.values())
    repairs = [own[i + 1].second - own[i].second for own in by_node.values() for i in range(0, len(own), 2)]
    lives = [own[i + 1].second - own[i].second for own in by_node.values() for i in range(1, len(own) - 1, 2)]
    # 18,000 of each: four standard errors; what is cut off at the end shortens lives by less than 2 %.
    assert np.mean(repairs) == pytest.approx(100, rel=0.05)
    assert np.mean(lives) == pytest.approx(1000, rel=0.07)


@pytest.mark.parametrize("name", ["mtbf", "mttr", "shape"])
def test_a_mean_that_is_not_positive_is_refused(name):
    machine = Cluster.of_nodes([NodeGroup.of("n1", cores=1)])
    with pytest.raises(InputError, match=f"{name}=0"):
        NodeEvents.drawn(machine, **{"mtbf": 9.0, "mttr": 1.0, "until": 9, "rng": 1, name: 0.0})


def test_jobs_are_requeued_or_lost():
    with pytest.raises(InputError, match="interrupted='kept'"):
        NodeEvents((), "kept")  # type: ignore[arg-type]


def test_reservations_are_written_and_read_and_those_without_leave_the_file_as_it_was():
    events = NodeEvents(
        (
            NodeEvent(5, "reservation", ("n1", "n2"), 9, 0, "r", ("ann", "bob")),
            NodeEvent(9, "reservation", ("n2",), 12, None, "q", (), ("lab",)),
            NodeEvent(1, "drain", ("n3",)),
        )
    )
    assert NodeEvents.from_csv(events.to_csv()) == events
    assert [event.name for event in events.shifted(-5).reservations] == ["r", "q"]
    assert NodeEvents((NodeEvent(1, "drain", ("n3",)),)).to_csv().startswith("second,event,nodes,end,announced\n")


@pytest.mark.parametrize(
    ("one", "other", "sentence"),
    [
        ((5, 9, "n1", "r"), (9, 12, "n1", "r"), "two reservations have the name 'r'"),
        ((5, 9, "n1", "r"), (8, 12, "n1", "q"), "the reservations 'r' and 'q' overlap on node n1"),
    ],
)
def test_reservations_that_contradict_each_other_are_named(one, other, sentence):
    with pytest.raises(InputError) as error:
        NodeEvents(
            tuple(
                NodeEvent(begin, "reservation", (node,), end, None, name, ("ann",))
                for begin, end, node, name in (one, other)
            )
        )
    assert str(error.value).startswith(sentence)


def test_events_of_gpus_are_read_written_and_refused():
    text = 'second,event,nodes,end,announced,gpus\n5,gpu-down,g1,,,"0-1,3"\n9,gpu-up,g1,,,0\n'
    events = NodeEvents.from_csv(text)
    assert [event.gpus for event in events] == [(0, 1, 3), (0,)]
    assert NodeEvents.from_csv(events.to_csv()) == events
    assert events.breaks
    for line, reason in (
        ("5,gpu-down,g1,,,", "a gpu-down event needs gpus, such as 0 or 0-3"),
        ("5,down,g1,,,0", "only gpu-down and gpu-up name gpus, not down"),
        ("5,gpu-up,g1,,,3-1", "gpus '3-1': must be numbers from 0 to 62"),
        ("5,gpu-up,g1,,,0-99999999", "must be numbers from 0 to 62"),
        ("5,gpu-up,g1,,,a", "gpus 'a' is not a whole number"),
    ):
        with pytest.raises(InputError, match=reason):
            NodeEvents.from_csv(f"second,event,nodes,end,announced,gpus\n{line}\n")


def test_failures_of_gpus_are_drawn_beside_those_of_nodes_and_change_nothing_of_them():
    machine = Cluster.of_nodes([NodeGroup.of("g[1-50]", cores=1, gpus={"a100": 4})])
    told = {"until": 100_000, "rng": 3}
    nodes = NodeEvents.drawn(machine, mtbf=10_000, mttr=100, **told)
    both = NodeEvents.drawn(machine, mtbf=10_000, mttr=100, gpu_mtbf=20_000, gpu_mttr=500, **told)
    assert [event for event in both if not event.gpus] == list(nodes)
    gpus = [event for event in both if event.gpus]
    # 200 GPUs for 100,000 s, one failure every 20,500 s: 976, with a standard deviation of about 31.
    assert abs(len(gpus) / 2 - 976) < 100
    assert {event.gpus for event in gpus} == {(0,), (1,), (2,), (3,)}
    with pytest.raises(InputError, match="give mtbf=, gpu_mtbf=, or both"):
        NodeEvents.drawn(machine, **told)
    with pytest.raises(InputError, match="gpu_mttr=None: must be greater than 0"):
        NodeEvents.drawn(machine, gpu_mtbf=5, **told)
