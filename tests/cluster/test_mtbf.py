"""The mean time between failures of a node, from recorded events."""

from __future__ import annotations

import pytest

from schedlab import Cluster
from schedlab.cluster import NodeEvent, NodeEvents, NodeGroup, mtbf_of
from schedlab.errors import InputError

MACHINE = Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=1)])


def event(second, what, *nodes):
    return NodeEvent(second, what, nodes)


def test_it_is_the_time_in_service_over_the_number_of_failures():
    """Four nodes for 1,000 s, of which n1 is down for 100 s, n2 for 50 s, n3 from 900 on; draining is no failure."""
    events = NodeEvents(
        (
            event(100, "down", "n1"),
            event(200, "up", "n1"),
            event(300, "drain", "n2", "n4"),
            event(350, "down", "n2"),
            event(400, "up", "n2", "n4"),
            event(900, "down", "n3"),
        )
    )
    found = mtbf_of(events, MACHINE, until=1_000)
    assert (found.failures, found.in_service) == (3, 4_000 - 100 - 50 - 100)
    assert found.seconds == 1_250
    # Chi-square quantiles of tables: 17.535 at 97.5 % with 8 degrees of freedom, 1.237 at 2.5 % with 6.
    assert found.low == pytest.approx(2 * 3_750 / 17.535, rel=1e-3)
    assert found.high == pytest.approx(2 * 3_750 / 1.237, rel=1e-3)


def test_what_began_before_the_record_is_time_out_of_service_and_no_failure():
    events = NodeEvents((event(0, "down", "n1"), event(150, "up", "n1"), event(180, "down", "n2")))
    found = mtbf_of(events, MACHINE, begin=100, until=200)
    assert (found.failures, found.in_service) == (1, 400 - 50 - 20)


@pytest.mark.parametrize(
    ("until", "sentence"), [(100, "no node went down from second 0 to second 100"), (0, "there is no time")]
)
def test_without_a_failure_nothing_is_known(until, sentence):
    with pytest.raises(InputError, match=sentence):
        mtbf_of(NodeEvents((event(500, "down", "n1"),)), MACHINE, until=until)
