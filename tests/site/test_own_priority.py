"""What a site's own priority is made of, read from its files."""

from __future__ import annotations

import numpy as np

import schedlab as sl
from schedlab.site.jobs import completed
from schedlab.site.own_priority import consequences, own_priority
from schedlab.site.variant_task import variant_task
from schedlab.site.variants import Variant
from schedlab.slurm.deployment import deploy


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


def test_a_deployment_says_what_the_what_if_of_its_policy_has_found(tmp_path):
    """Two jobs of an hour and four of a minute, on both nodes each: smallest first, the four start an hour earlier."""
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=lab\nNodeName=n[1-2] CPUs=1\nPartitionName=b Nodes=ALL Default=YES\n"
    )
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for number, (minute, minutes, cpus) in enumerate(
        [(0, 60, 2), (1, 60, 2), (2, 1, 2), (3, 1, 2), (4, 1, 2), (5, 1, 2)]
    ):
        begin = f"2026-04-01T10:{minute:02}:00|2026-04-01T1{number}:30:00|2026-04-01T1{number}:{30 + minutes // 3}:00"
        lines.append(f"{number + 1}|ann|COMPLETED|{begin}|{minutes}|{cpus}|b")
    (tmp_path / "jobs.txt").write_text("\n".join(lines) + "\n")
    site = tmp_path / "site"
    sl.site.import_site(tmp_path / "slurm.conf", tmp_path / "jobs.txt").save(site)
    assert consequences(site, "saf") == ""
    sl.site.what_if(site, policies=["saf"], nodes=True, anyway=True, workers=1)
    told = consequences(site, "saf")
    assert "policy=saf" in told
    readme = deploy("saf", consequences=told).files["README.md"]
    assert told in readme[readme.index("## Who will wait longer") : readme.index("## Install")]
    assert "Not known yet" not in readme


def test_a_policy_in_place_of_a_sites_priorities_says_what_no_longer_counts(sites):
    site = sl.site.import_site(sites / "ubccr-micro")
    jobs = sl.model.lublin(40, site.cluster.processors, rng=np.random.default_rng(1))
    jobs = jobs.replace(requested_time=jobs.run_time + 60)
    told = variant_task(site, completed(jobs, site.cluster).jobs, Variant("saf", policy="saf")).notes
    assert any("age, fair share, QOS and partition weights do not count" in note for note in told)
    assert not variant_task(site, completed(jobs, site.cluster).jobs, Variant("as it is")).notes
