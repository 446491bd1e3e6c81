"""What a site's own priority is made of, read from its files."""

from __future__ import annotations

import schedlab as sl
from schedlab.site.own_priority import own_priority


def test_points_of_qos_and_partitions_are_weight_times_share_of_the_highest(sites):
    """UB CCR's site: PriorityWeightQOS=50000, priorities up to 400; PriorityWeightPartition=1000000, up to 700."""
    own = own_priority(sl.site.import_site(sites / "ubccr-medium"))
    assert own.tiers["QOS priority-supporters"] == 50_000
    assert own.tiers["QOS supporters"] == own.tiers["QOS priority"] == 25_000
    assert own.tiers["QOS general-compute"] == 0
    assert own.tiers["partition debug"] == 1_000_000
    assert round(own.tiers["partition general-compute"]) == 142_857
    assert own.suggested_weight == 24_999
    assert own.weights["PriorityWeightFairshare"] == "120000"


def test_a_site_whose_jobs_go_by_submission_has_no_priority_of_its_own(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=lab\nPriorityType=priority/basic\nNodeName=n1 CPUs=4\nPartitionName=batch Nodes=ALL Default=YES\n"
    )
    own = own_priority(sl.site.import_site(tmp_path))
    assert own.basic
    assert not own.weights
    assert own.step is None
