"""Rules of Slurm's scheduler that differ between its versions, as one table.

A rule is a name, the versions in which it holds, a sentence, and where it was seen. `version=` of `+slurm(...)` chooses
among them; passes know only the rules. All was observed on unmodified slurmctlds 22.05.8, 24.11.5 and 26.05.5 in
skipped time. `NOT_MODELLED` has the differences that were seen, and that the model does not know.
"""

from __future__ import annotations

from dataclasses import dataclass

VERSIONS = ("22.05", "24.11", "26.05")

NEWEST = VERSIONS[-1]
"""The version of a `+slurm` that names none."""

OF_0_1 = "22.05"
"""The version that it was until schedlab 0.1: that of stored results which name none."""

_OLD, _NEW, _LATEST = ("22.05",), ("24.11", "26.05"), ("26.05",)


@dataclass(frozen=True, slots=True)
class VersionRule:
    """A rule that differs by version.

    Parameters
    ----------
    name
        By which passes ask for it.
    versions
        Those in which it holds.
    meaning
        In one sentence.
    seen
        The cases in which it was seen, by file of `conformance/`.
    """

    name: str
    versions: tuple[str, ...]
    meaning: str
    seen: str

    def between(self, old: str, new: str) -> str:
        """Return what it says in each of two versions, of which it holds in one.

        Examples
        --------
        >>> rule = VersionRule("x", ("22.05",), "A run ends in the next look; otherwise at once.", "")
        >>> rule.between("22.05", "26.05")
        '22.05: A run ends in the next look; 26.05: at once.'
        """
        here, there = (old, new) if old in self.versions else (new, old)
        holds, _, otherwise = self.meaning.partition("; otherwise ")
        return f"{here}: {holds}; {there}: {otherwise}" if otherwise else self.meaning


RULES = {
    rule.name: rule
    for rule in (
        VersionRule(
            "passes_rest",
            _OLD,
            "After a backfill pass that has changed nothing, the next one waits for a change, which it follows at "
            "once; otherwise passes keep their interval while jobs wait.",
            "slurm-by-hand.json: rest on busy nodes, other phase; slurm-preemption.json: exempt time",
        ),
        VersionRule(
            "searches_whole_plan",
            _NEW,
            "Where a job does not fit, a backfill pass tries every later second of its plan in which reserved nodes "
            "become free; otherwise only those that the job would touch, and the next one.",
            "slurm-by-hand.json: no reservation behind a staircase",
        ),
        VersionRule(
            "requeued_keep_place",
            _OLD,
            "Under priority/basic, a job that is requeued keeps its place; otherwise it goes behind those that wait.",
            "slurm-requeues.json: priority/basic",
        ),
        VersionRule(
            "licenses_stop",
            _NEW,
            "With assoc_limit_stop, a job that waits for a licence stops a main pass, too.",
            "slurm-rules.json: limits stop, licences",
        ),
        VersionRule(
            "own_ends",
            _LATEST,
            "In the plan of a backfill pass, a job begins when the nodes that it gets are free; otherwise when the "
            "whole group of runs has ended after which it was tried.",
            "slurm-rules.json, slurm-by-hand.json: own nodes free before their group, ends close together",
        ),
        VersionRule(
            "grace_until_look",
            _OLD,
            "A run whose time of grace is over ends with the look at time limits, every 30 s; otherwise at once.",
            "slurm-preemption.json: time of grace",
        ),
        VersionRule(
            "exempt_from_suspension",
            _LATEST,
            "PreemptExemptTime puts off that a run is suspended, too.",
            "slurm-preemption.json: no exempt time for the suspended",
        ),
        VersionRule(
            "caps_count_all",
            ("24.11",),
            "MaxCPUsPerNode counts the cores that jobs of other partitions hold.",
            "slurm-machines.json: cores of other partitions, cores of two partitions",
        ),
        VersionRule(
            "least_leave_in_turn",
            _NEW,
            "Where the nodes that a job would take do not do, those with least room are left out one at a time; "
            "otherwise all with as little room at once, and among the lightest nodes first.",
            "slurm-maximum.json, slurm-consecutive.json, slurm-switch-choices.json",
        ),
        VersionRule(
            "usable_cores_count",
            _NEW,
            "Which nodes side by side a job takes is decided by their free cores as far as its tasks on a node can use "
            "them; otherwise by all free cores.",
            "slurm-consecutive.json",
        ),
        VersionRule(
            "leaves_hold_tasks",
            _NEW,
            "Where all nodes on which the job may begin are of one weight, a leaf switch holds the rest of a job if "
            "its nodes have room for the tasks; otherwise if they are enough nodes.",
            "slurm-switch-choices.json, slurm-switches.json: tasks without nodes",
        ),
        VersionRule(
            "first_for_one",
            _LATEST,
            "A job for one node gets the first that holds it; otherwise the one with least free cores, or below the "
            "smallest leaf switch.",
            "slurm-consecutive.json, slurm-maximum.json, slurm-switches.json: the best leaf",
        ),
        VersionRule(
            "rates_forget_shares",
            _OLD,
            "SuspendRate and ResumeRate let as many nodes as they say be switched off or booted at once, and forget a "
            "sixtieth of these each second; otherwise a sixth of them at once, and then as many a minute.",
            "slurm-power-saving.json: 40 nodes, of which 30 a minute boot",
        ),
    )
}

OF_NODES = (
    "caps_count_all",
    "least_leave_in_turn",
    "usable_cores_count",
    "leaves_hold_tasks",
    "first_for_one",
    "own_ends",
    "rates_forget_shares",
)
"""Rules about nodes: on a number of processors, they have no effect."""

NOT_MODELLED = (
    VersionRule(
        "full_seconds",
        _NEW,
        "The main loop ticks on full seconds: starts and ends are noticed up to two seconds earlier or later.",
        "slurm-by-hand.json",
    ),
    VersionRule(
        "run_minutes_late",
        _NEW,
        "Room under GrpTRESRunMins is noticed up to a minute later.",
        "slurm-rules.json: limits stop, account GrpTRESRunMins=cpu=20",
    ),
    VersionRule(
        "returns",
        _NEW,
        "A job that was preempted begins again up to 40 seconds earlier or later.",
        "slurm-preemption.json: requeue, exempt time",
    ),
    VersionRule(
        "gang_turns",
        _NEW,
        "Which of several suspended runs goes on, on nodes that are partly in use.",
        "slurm-preemption.json",
    ),
    VersionRule(
        "memory_cores",
        _NEW,
        "How many cores a job gets for memory above MaxMemPerCPU, and which such requests are refused.",
        "slurm-memory.json",
    ),
    VersionRule(
        "tree_leaves",
        _NEW,
        "Which leaf switches are chosen below several levels of switches, in some requests for many nodes.",
        "slurm-switch-choices.json",
    ),
    VersionRule(
        "busy_second",
        _NEW,
        "With bf_busy_nodes, which nodes a second waiting job reserves, in a fifth of the cases.",
        "slurm-busy.json",
    ),
    VersionRule(
        "tiers_no_longer_block",
        _NEW,
        "Heterogeneous jobs whose partitions are of two tiers no longer keep others, and themselves, waiting for ever.",
        "slurm-hetjobs.json: partitions of two tiers",
    ),
    VersionRule(
        "sleepers_weigh_alike",
        _OLD,
        "Among nodes that are switched off, weight makes no difference.",
        "slurm-sleeper-choices.json",
    ),
    VersionRule(
        "per_node_by_tasks",
        ("24.11",),
        "A job of a QOS with MaxTRESPerNode runs if its tasks fit, though it allows for more of them on a node.",
        "slurm-per-node.json",
    ),
    VersionRule(
        "components_at_limits",
        _LATEST,
        "A heterogeneous job counts as one under limits on jobs, and with its largest component under others; beyond "
        "MaxJobs it is refused when it is submitted, but its second component stays in the queue and runs alone.",
        "slurm-hetjobs.json",
    ),
    VersionRule(
        "components_wait",
        _LATEST,
        "A heterogeneous job that waits may start two minutes later, behind jobs that came after it.",
        "slurm-hetjobs.json: a short job does not start where a component could",
    ),
    VersionRule(
        "least_loaded",
        _LATEST,
        "With CR_LLN or LLN=YES, which nodes a job gets, and that some wait though there is room.",
        "slurm-ways.json",
    ),
)
"""Differences that were seen, and whose rule is not known well enough to be modelled."""


def holds(rule: str, version: str) -> bool:
    """Return whether a rule of the table holds in a version.

    Examples
    --------
    >>> holds("passes_rest", "22.05"), holds("passes_rest", "26.05")
    (True, False)
    """
    return version in RULES[rule].versions


def differing(old: str, new: str) -> tuple[VersionRule, ...]:
    """Return the rules of the table that hold in one of two versions.

    Examples
    --------
    >>> [rule.name for rule in differing("24.11", "26.05")]
    ['own_ends', 'exempt_from_suspension', 'caps_count_all', 'first_for_one']
    """
    return tuple(rule for rule in RULES.values() if (old in rule.versions) != (new in rule.versions))


def not_modelled(old: str, new: str) -> tuple[VersionRule, ...]:
    """Return the differences between two versions that are known, and not modelled."""
    return tuple(rule for rule in NOT_MODELLED if (old in rule.versions) != (new in rule.versions))
