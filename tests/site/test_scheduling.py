"""A site's scheduler from its slurm.conf, and what of it schedlab does not have."""

from __future__ import annotations

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Account, Accounting, QosLimits
from schedlab.cluster.nodes import NodeGroup, Partition, Switch
from schedlab.errors import InputError
from schedlab.scheduler.backfilling import NoBackfill
from schedlab.site.scheduling import Numbers, scheduling_of

NODES = [NodeGroup.of("n[1-4]", cores=16)]
PLAIN = Cluster.of_nodes(NODES)
NO_NUMBERS = Numbers({}, {})
MULTIFACTOR = {"prioritytype": "priority/multifactor", "accountingstoragetype": "accounting_storage/slurmdbd"}


def text(values, cluster=PLAIN, numbers=NO_NUMBERS):
    """Return the text of the scheduler, without the usual choice of nodes."""
    return scheduling_of(values, cluster, numbers).scheduler.text.removesuffix(",placement=consecutive")


def test_slurms_defaults_are_fcfs_with_backfilling():
    assert text({}) == "fcfs+slurm(tick=1,ties=number)"


def test_scheduler_parameters_become_arguments_in_seconds_whatever_their_case():
    given = "BF_INTERVAL=60,bf_window=2880,bf_resolution=300,bf_max_job_test=1000,default_queue_depth=256,bf_continue"
    assert (
        text({"schedulerparameters": given, "overtimelimit": "5"})
        == "fcfs+slurm(interval=60,depth=1000,resolution=300,window=172800,queue_depth=256,overtime=300,tick=1,"
        "ties=number)"
    )


@pytest.mark.parametrize(("given", "delay"), [("2000000", 3), ("5000", 3), ("7500000", 7)])
def test_the_interval_of_main_passes_is_in_microseconds(given, delay):
    found = scheduling_of({"schedulerparameters": f"sched_min_interval={given}"}, PLAIN, NO_NUMBERS).scheduler
    assert found.backfill.delay == delay


@pytest.mark.parametrize(
    ("options", "scheduler"),
    [
        ("bf_hetjob_prio=MAX", "fcfs+slurm(tick=1,ties=number,hetjob_prio=max)"),
        ("bf_hetjob_immediate", "fcfs+slurm(tick=1,ties=number,hetjob_immediate=yes)"),
        ("bf_hetjob_prio=mean", "fcfs+slurm(tick=1,ties=number)"),
    ],
)
def test_the_order_of_components_is_taken_and_unknown_words_have_no_effect_as_in_slurm(options, scheduler):
    found = scheduling_of({"schedulerparameters": options}, PLAIN, NO_NUMBERS)
    assert found.scheduler.text == f"{scheduler},placement=consecutive"
    assert bool(found.notes) == ("mean" in options)


@pytest.mark.parametrize(
    ("option", "argument"), [("pack_serial_at_end", "serial=last"), ("bf_busy_nodes", "busy=first")]
)
def test_options_that_choose_nodes_are_arguments_and_noted_where_they_have_no_effect(option, argument):
    assert text({"schedulerparameters": option}) == f"fcfs+slurm({argument},tick=1,ties=number)"
    without = {"schedulerparameters": option, "schedulertype": "sched/builtin"}
    found = scheduling_of(without, PLAIN, NO_NUMBERS)
    assert found.notes["SchedulerParameters", option][0] == "ignored"


@pytest.mark.parametrize("values", [{"schedulertype": "sched/builtin"}, {"schedulerparameters": "bf_interval=-1"}])
def test_without_backfilling_there_is_the_queue_alone(values):
    assert isinstance(scheduling_of(values, PLAIN, NO_NUMBERS).scheduler.backfill, NoBackfill)


def test_weights_ages_and_flags_become_a_multifactor_policy():
    values = MULTIFACTOR | {
        "priorityweightage": "500", "priorityweightjobsize": "100", "priorityweightfairshare": "300",
        "prioritymaxage": "14-0", "prioritydecayhalflife": "2-0", "prioritycalcperiod": "1",
        "priorityfavorsmall": "YES", "priorityflags": "ACCRUE_ALWAYS,SMALL_RELATIVE_TO_TIME,NO_FAIR_TREE",
    }  # fmt: skip
    assert text(values) == (
        "multifactor(age=500,size=100,fairshare=300,max_age=1209600,favor=small,relative=yes,half_life=172800,period=60,"
        "shares=classic,accrue=always,ends=lost)+slurm(tick=1)"
    )


def test_what_jobs_use_at_their_ends_counts_where_limits_are_enforced():
    values = MULTIFACTOR | {"priorityweightfairshare": "300"}
    assert text(values) == "multifactor(fairshare=300,ends=lost)+slurm(tick=1)"
    assert (
        text(values | {"accountingstorageenforce": "associations,limits"}) == "multifactor(fairshare=300)+slurm(tick=1)"
    )


def test_a_backfill_pass_looks_at_so_many_jobs_of_a_user_and_starts_so_many():
    both = {"schedulerparameters": "bf_max_job_user=30,bf_max_job_start=7"}
    assert text(both) == "fcfs+slurm(tick=1,user_depth=30,starts=7,ties=number)"
    assert text({"schedulerparameters": "bf_max_job_user=0,bf_max_job_start=0"}) == "fcfs+slurm(tick=1,ties=number)"
    assert (
        text({"schedulerparameters": "bf_max_job_user=30,bf_max_job_assoc=9"})
        == "fcfs+slurm(tick=1,association_depth=9,ties=number)"
    )


def test_partitions_and_qos_count_relative_to_the_largest_and_as_they_are_under_the_flags():
    partitions = [Partition("a", priority_factor=100), Partition("b", priority_factor=700)]
    who = Accounting((QosLimits("low", 10), QosLimits("high", 40)), (Account("root", ""),))
    cluster = Cluster.of_nodes(NODES, partitions, accounting=who)
    numbers = Numbers({"a": 1, "a,b": 2}, {"low": 1})
    weights = {"priorityweightpartition": "1000", "priorityweightqos": "100"}
    found = scheduling_of(MULTIFACTOR | weights, cluster, numbers).scheduler.policy
    assert (found.partition, dict(found.partitions)) == (1000, {1: 1 / 7, 2: 1})  # type: ignore[attr-defined]
    assert (found.qos, dict(found.qoses)) == (100, {1: 0.25})  # type: ignore[attr-defined]
    raw = scheduling_of(MULTIFACTOR | weights | {"priorityflags": "NO_NORMAL_ALL"}, cluster, numbers).scheduler.policy
    assert (raw.partition * raw.partitions[1], raw.qos * raw.qoses[1]) == (pytest.approx(100_000), 1000)  # type: ignore[attr-defined]


def test_without_a_database_age_and_fair_share_have_no_effect_and_there_are_no_limits():
    values = {"prioritytype": "priority/multifactor", "priorityweightage": "5", "accountingstorageenforce": "limits"}
    found = scheduling_of(values, PLAIN, NO_NUMBERS)
    assert (found.scheduler.text, found.limits) == ("fcfs+slurm(tick=1),placement=consecutive", False)
    assert found.notes["slurm.conf", "priorityweightage"][0] == "modelled"


@pytest.mark.parametrize(
    ("enforced", "limits"), [("associations", False), ("safe,qos", True), ("all", True), ("", False)]
)
def test_limits_are_enforced_where_the_site_says_so(enforced, limits):
    assert scheduling_of(MULTIFACTOR | {"accountingstorageenforce": enforced}, PLAIN, NO_NUMBERS).limits is limits


def test_a_weight_of_qos_without_known_qos_is_said_to_have_no_effect():
    found = scheduling_of(MULTIFACTOR | {"priorityweightqos": "10000"}, PLAIN, NO_NUMBERS)
    assert found.notes["slurm.conf", "priorityweightqos"] == (
        "ignored",
        "has no effect: no job is of a QOS whose priority is known and above 0",
    )


@pytest.mark.parametrize(
    "values",
    [
        {"schedulerparameters": "bf_interval=soon"},
        {"schedulerparameters": f"bf_interval={'9' * 5000}"},
        {"overtimelimit": "-5"},
        {"schedulerparameters": "bf_resolution=0"},
    ],
)
def test_a_value_that_is_no_number_is_named(values):
    with pytest.raises(InputError, match="must be a whole number"):
        scheduling_of(values, PLAIN, NO_NUMBERS)


@pytest.mark.parametrize(
    ("option", "least", "most"),
    [
        ("bf_interval", 1, 10_800),
        ("bf_resolution", 1, 3600),
        ("bf_window", 1, 43_200),
        ("bf_max_job_test", 1, 1_000_000),
        ("bf_max_job_start", 0, 10_000),
        ("bf_max_job_array_resv", 0, 1000),
        ("bf_node_space_size", 2, 2_000_000),
        ("bf_job_part_count_reserve", 0, 100_000),
        ("bf_min_age_reserve", 0, 2_592_000),
    ],
)
def test_a_number_beyond_what_the_manual_allows_is_refused(option, least, most):
    """Min and Max of slurm.conf(5) of 22.05."""
    for number in (least, most):
        assert "slurm" in text({"schedulerparameters": f"{option}={number}"}, PLAIN)
    for number in (least - 1, most + 1) if option != "bf_interval" else (-5, 0, most + 1):
        with pytest.raises(InputError, match=f"{option}='{number}': must be a whole number from {least} to {most:,}"):
            text({"schedulerparameters": f"{option}={number}"}, PLAIN)


def test_an_interval_of_minus_one_switches_backfilling_off():
    assert text({"schedulerparameters": "bf_interval=-1"}, PLAIN) == "fcfs"
    with pytest.raises(InputError, match="from 1 to 10,800, or -1"):
        text({"schedulerparameters": "bf_interval=0"}, PLAIN)


def test_nodes_are_chosen_side_by_side_or_by_weight_where_they_are_given_whole():
    assert scheduling_of({}, PLAIN, NO_NUMBERS).scheduler.placement == "consecutive"
    assert scheduling_of({"selecttype": "select/linear"}, PLAIN, NO_NUMBERS).scheduler.placement is None
    assert scheduling_of({}, Cluster(64), NO_NUMBERS).scheduler.placement is None


def test_a_tree_of_switches_chooses_the_nodes():
    leaves = [NodeGroup.of("a[1-2]", cores=1, switch="a"), NodeGroup.of("b[1-2]", cores=1, switch="b")]
    tree = Cluster.of_nodes(leaves, switches=[Switch("a", "top"), Switch("b", "top"), Switch("top")])
    values = {"topologyplugin": "topology/tree"}
    assert text(values, tree) == "fcfs+slurm(tick=1,ties=number),placement=switches"
    assert not scheduling_of(values, tree, NO_NUMBERS).notes
    assert text({}, tree) == text(values, tree)  # a topology.yaml needs no plugin
    none = Cluster.of_nodes([NodeGroup.of("a[1-2]", cores=1)])
    assert text({}, none) == text({"topologyplugin": "topology/default"}, none) == "fcfs+slurm(tick=1,ties=number)"
    found = scheduling_of(values, none, NO_NUMBERS).notes["slurm.conf", "topologyplugin"]
    assert found[1].startswith("no topology.conf or topology.yaml has a tree of switches")
    apart = Cluster.of_nodes(leaves, switches=[Switch("a"), Switch("b")])
    assert text(values, apart) == "fcfs+slurm(tick=1,ties=number),placement=switches"
    assert scheduling_of(values, apart, NO_NUMBERS).notes["slurm.conf", "topologyplugin"][0] == "approximated"
    bare = Cluster.of_nodes([leaves[0], NodeGroup.of("c1", cores=1)], switches=[Switch("a")])
    assert text(values, bare) == "fcfs+slurm(tick=1,ties=number)"
    found = scheduling_of(values, bare, NO_NUMBERS).notes["slurm.conf", "topologyplugin"]
    assert found == ("ignored", "the topology connects 1 node to no switch: nodes are chosen side by side")
