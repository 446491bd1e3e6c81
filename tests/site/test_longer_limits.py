"""A log of a site with limits cannot show what users would ask for with longer ones: an answer says so."""

from __future__ import annotations

import schedlab as sl
from schedlab.cluster.nodes import Partition
from schedlab.site.longer_limits import longer_limit_text

HOUR = 3600


def cluster(**limits):
    groups = [sl.cluster.NodeGroup.of("n1", cores=4)]
    return sl.Cluster.of_nodes(groups, [Partition.of(name, "n1", max_time=most) for name, most in limits.items()])


def jobs(*runs):
    columns = {"submit_time": [0] * len(runs), "run_time": runs, "requested_time": [24 * HOUR] * len(runs)}
    return sl.Workload.from_columns(columns | {"requested_processors": [1] * len(runs)}, processors=4)


def test_jobs_that_end_at_their_limits_and_their_part_of_the_work_are_counted():
    """One of three runs for all of its day; the others for 6 hours each: 24 of 36 hours."""
    today = cluster(batch=24 * HOUR, short=HOUR)
    text = longer_limit_text(today, cluster(batch=7 * 24 * HOUR, short=HOUR), jobs(24 * HOUR, 6 * HOUR, 6 * HOUR))
    assert text.startswith("no recorded job asks for more than the limits of today: ")
    assert text.endswith("; 1 job with 67% of the core-hours ends at its own limit today")
    assert "core-hours" not in longer_limit_text(today, cluster(batch=None, short=HOUR), jobs(6 * HOUR))


def test_of_limits_that_are_not_longer_nothing_is_said():
    today = cluster(batch=24 * HOUR, short=HOUR)
    assert longer_limit_text(today, today, jobs(HOUR)) == ""
    assert longer_limit_text(today, cluster(batch=12 * HOUR), jobs(HOUR)) == ""
    assert longer_limit_text(cluster(batch=None), cluster(batch=HOUR), jobs(HOUR)) == ""
