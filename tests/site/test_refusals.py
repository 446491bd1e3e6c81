"""Submissions that sbatch would refuse under a maintenance, by hand."""

from __future__ import annotations

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.site import MaintenancePlan, Sweep, maintenance
from schedlab.site.ledger import Ledger
from schedlab.site.refusals import Refusals
from schedlab.site.site import Settings, Site
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

HOUR, DAY = 3600, 86_400


def site_of(most: int) -> Site:
    """One core, and a user who submits a job of half an hour at each hour, of 16 hours; the last one comes at 30 h."""
    cluster = Cluster.from_dict(
        {
            "groups": [{"nodes": "n1", "cores": 1}],
            "qos": [{"name": "normal", "limits": {"max_submit_per_user": most}}],
            "accounts": [{"name": "root", "parent": "", "qos": ["normal"], "default_qos": "normal"}],
            "users": [{"user": "ann", "account": "root", "default": True}],
        }
    )
    submit = [HOUR * number for number in (*range(16), 30)]
    count = len(submit)
    columns = {"submit_time": submit, "run_time": [HOUR // 2] * count, "requested_time": [HOUR] * count}
    columns |= {"requested_processors": [1] * count, "user_id": [1] * count}
    asked = Resources.of(count, tasks=[1] * count)
    jobs = Workload.from_columns(columns, name="lab", processors=1, resources=asked, header=(" User: 1 ann",))
    return Site(cluster, jobs, Settings("fcfs+easy", limits=True), Ledger())


def closed_at_noon(directory, most: int):
    """Four hours from 12:00 on, announced an hour before."""
    plan = MaintenancePlan(hours=4, notice=HOUR, window=DAY, at=("12:00",))
    return maintenance(Sweep(site_of(most).save(directory)), plan, copies=1, workers=1)


def test_what_a_limit_on_submitted_jobs_refuses_while_nodes_are_closed_is_told_with_whose_it_is(tmp_path):
    # With two jobs at once: those of 12:00 and 13:00 wait until 16:00. That of 14:00 is taken at 16:30, when the first
    # of them has ended, and that of 15:00 at 17:00: two and a half hours and two outside the queue.
    found = closed_at_noon(tmp_path / "site", most=2)
    assert found.refusals == Refusals(2.0, 0.0, 4.5, (("ann", 2.0),))
    told = " ".join(found.sentences())
    assert (
        "12:00, sbatch would refuse 2 submissions, as there are as many jobs as a limit on submitted jobs allows: of "
        in told
    )
    assert "ann (2)." in told
    assert "counts its wait from the first try: 4.5 of the hours of waiting." in told
    assert found.to_document()["refused"]["jobs"] == 2.0


def test_without_a_refused_submission_nothing_is_said_of_it(tmp_path):
    found = closed_at_noon(tmp_path / "site", most=5)
    assert found.refusals == Refusals(0.0, 0.0, 0.0, ())
    assert not any("sbatch" in one for one in found.sentences())


@pytest.mark.parametrize(("before", "beside"), [(0.0, "3 submissions, as"), (7.0, "3 submissions, beside 7 today, as")])
def test_what_is_refused_today_already_is_told_apart(before, beside):
    users = (("eve", 2.0), ("bob", 1.0))
    first, _ = Refusals(3.0, before, 10.0, users).sentences("Under x,")
    assert first.startswith(f"Under x, sbatch would refuse {beside}")
    assert first.endswith("of user eve (2) and user bob (1).")
