"""What a site's own priority is made of, read from its files."""

from __future__ import annotations

import numpy as np
import pytest

import schedlab as sl
from schedlab.errors import InputError
from schedlab.site.jobs import completed
from schedlab.site.own_priority import own_priority
from schedlab.site.policy_consequences import consequences
from schedlab.site.ranking import rank_variants
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Sweep
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
    told = variant_task(site, completed(jobs, site.cluster).jobs, Variant("saf", policy="saf", points=0)).notes
    assert any("age, fair share, QOS, partition and size no longer count under it" in note for note in told)
    assert not variant_task(site, completed(jobs, site.cluster).jobs, Variant("as it is")).notes


CONF = """ClusterName=lab
PriorityType=priority/multifactor
PriorityWeightPartition=1000
NodeName=n1 CPUs=1
PartitionName=batch Nodes=ALL Default=YES PriorityJobFactor=10
PartitionName=short Nodes=ALL PriorityJobFactor=20
"""


def three_that_wait(tmp_path):
    """One job runs; behind it wait a long and a short one of 500 points, and a long one of 1,000 points."""
    (tmp_path / "slurm.conf").write_text(CONF)
    rows = ["0,3600,3600,batch", "60,36000,36000,batch", "120,60,60,batch", "180,36000,36000,short"]
    head = "submit_time,run_time,requested_time,partition,requested_processors,user_id\n"
    (tmp_path / "jobs.csv").write_text(head + "".join(f"{row},1,1\n" for row in rows))
    return sl.site.import_site(tmp_path / "slurm.conf", tmp_path / "jobs.csv")


def order_under(site, **asked):
    task = variant_task(site, site.replayable().jobs, Variant("x", **asked))
    return np.argsort(task.simulate()[0].start_time).tolist(), list(task.notes)


def test_a_policy_counts_as_the_factor_that_a_deployment_makes_of_it(tmp_path):
    """499 points decide within a partition and not across; in place of all priorities, the smallest area goes first."""
    site = three_that_wait(tmp_path)
    assert order_under(site)[0] == [0, 3, 1, 2]
    beside, told = order_under(site, policy="saf")
    assert beside == [0, 3, 2, 1]
    assert any("counts as one factor of 499 points beside the site's own priorities" in note for note in told)
    instead, told = order_under(site, policy="saf", points=0)
    assert instead == [0, 2, 1, 3]
    assert any("no longer count" in note and "not simulated" not in note for note in told)
    # 1,000 points and more let a small job pass one of a higher partition.
    assert order_under(site, policy="saf", points=5000)[0] == [0, 2, 3, 1]


def test_what_eaf_gains_on_logs_that_were_kept_apart_and_where_it_gains_nothing_is_said_with_it(tmp_path):
    site = three_that_wait(tmp_path)
    (told,) = [
        note for note in order_under(site, policy="eaf")[1] if note.startswith("policy=eaf (expected area first)")
    ]
    assert "0.98 of the mean bounded slowdown of saf and 1.08 of its mean wait" in told
    assert "it gains nothing where few jobs repeat" in told
    assert not any("0.98" in note for note in order_under(site, policy="saf")[1])
    readme = deploy("eaf").files["README.md"]
    assert "it gains nothing, or costs a little, where few jobs repeat" in " ".join(readme.split())


def test_the_first_sentences_say_under_which_of_several_variants_priorities_no_longer_count(tmp_path):
    directory = three_that_wait(tmp_path).save(tmp_path / "site")
    sweep, variants = Sweep(directory), [Variant("saf", policy="saf"), Variant("replaced", policy="saf", points=0)]
    sweep.run(variants, workers=1)
    told = [one for one in rank_variants(sweep, variants, [SiteSample()]).lead if "no longer count" in one]
    assert told == ["Under replaced, partition no longer counts."]


def test_a_policy_that_changes_with_time_stays_in_place_of_the_priorities_and_says_so(tmp_path):
    site = three_that_wait(tmp_path)
    assert any("not simulated, as its scores change" in note for note in order_under(site, policy="wfp3")[1])
    with pytest.raises(InputError, match="wfp3 as one factor of 9 points: its scores change"):
        order_under(site, policy="wfp3", points=9)
    with pytest.raises(InputError, match="points of a policy"):
        Variant("x", points=5)


def test_what_if_and_deploy_speak_of_the_same_policy(tmp_path):
    site = three_that_wait(tmp_path).save(tmp_path / "site")
    sl.site.what_if(site, policies=["saf"], anyway=True, workers=1)
    assert "counts as one factor of 499 points" in consequences(site, "saf")
    assert "local WEIGHT = 499" in deploy("saf", own=own_priority(sl.site.read(site))).files["job_submit.lua"]
    assert consequences(site, "saf", 0) == ""  # in place of all priorities, it was not asked


def test_what_was_simulated_instead_of_what_is_deployed_is_said_before_what_was_found(tmp_path):
    """Waiting decides under wfp3, so a deployment makes it a factor by a daemon, which no simulation has."""
    site = three_that_wait(tmp_path).save(tmp_path / "site")
    sl.site.what_if(site, policies=["wfp3", "saf"], anyway=True, workers=1)
    first = consequences(site, "wfp3").partition("\n")[0]
    assert first.startswith("**Of this way, nothing has been simulated**: these files make wfp3 one factor beside")
    assert "has simulated wfp3 in place of Slurm's own priorities" in first
    # Installed in their place, it is what was simulated; and saf is a factor in both.
    for told in (consequences(site, "wfp3", 0), consequences(site, "saf"), consequences(site, "saf", 499)):
        assert told.startswith("What `schedlab site what-if` has found of the policy, deployed in this way:")
    some = consequences(site, "saf", partitions=["short"]).partition("\n")[0]
    assert "nothing has been simulated**: these files order jobs of partition short only" in some
    assert "has simulated saf as one factor of Slurm's own priorities, for all jobs" in some
    assert consequences(site, "saf", 7) == ""
