"""Every limit that an account, a user in it or a QOS may have, in one table.

The amount that a limit bounds, and whose jobs count together, tell how it is read, checked and simulated. Reasons are
those of slurmctld 22.05, as `squeue` shows them; they are irregular.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

RUNNING, SUBMITTED = "running jobs", "jobs that run or wait"
TRES, TO_GO = "resources", "resources times minutes to go"
MINUTES, OF_NODE, LEAST = "resources times minutes", "resources of each node", "least resources"
SECONDS = "seconds"
"""What a limit bounds."""

ALL, USER, ACCOUNT, JOB = "all", "user", "account", "job"
"""Whose jobs count together: all under the limit, those of each user or account, or each job by itself."""

Reasons = Mapping[str, str]
"""Why a job waits, by resource; "": for others, whose names take the place of {}."""


@dataclass(frozen=True, slots=True, eq=False)
class LimitKind:
    """A kind of limit.

    Parameters
    ----------
    name
        The field of `Limits`.
    slurm
        What `schedlab.cluster.sacctmgr` calls it.
    amount, together
        What it bounds, and whose jobs count together.
    association, qos
        The reasons of jobs that would exceed it, of an account or a user in it, and of a QOS. None: it has none, or it
        is not simulated.
    """

    name: str
    slurm: str
    amount: str
    together: str
    association: Reasons | None = None
    qos: Reasons | None = None

    @property
    def counts_jobs(self) -> bool:
        """Whether every job counts as one."""
        return self.amount in (RUNNING, SUBMITTED)

    @property
    def is_of_resources(self) -> bool:
        """Whether it has an amount for each resource; otherwise, it is one number."""
        return not self.counts_jobs and self.amount != SECONDS

    def holds(self, *, qos: bool) -> bool:
        """Return whether it is simulated for a QOS, or else for accounts and users."""
        return (self.qos if qos else self.association) is not None

    def reason(self, resource: str = "", *, qos: bool) -> str:
        """Return the reason of a job that would exceed it.

        Parameters
        ----------
        resource
            Such as "cpu", "mem", "node", "gres/gpu"; empty for limits of jobs and times.
        qos
            Whether it is a limit of a QOS; otherwise, of an account or a user in it.

        Examples
        --------
        >>> LIMIT_KINDS["grp_tres"].reason("cpu", qos=False), LIMIT_KINDS["max_jobs"].reason(qos=False)
        ('AssocGrpCpuLimit', 'AssocMaxJobsLimit')
        >>> LIMIT_KINDS["max_tres_per_user"].reason("gres/gpu:a100", qos=True)
        'QOSMaxGRESPerUser'
        """
        known = self.qos if qos else self.association
        assert known is not None, f"{self.name} is not simulated there"
        return known.get(resource, known[""]).format(_word(resource, qos=qos))


def _word(resource: str, *, qos: bool) -> str:
    """Return Slurm's name of a resource in a reason."""
    words = {"cpu": "Cpu", "mem": "Memory" if qos else "Mem", "node": "Node", "energy": "Energy", "billing": "Billing"}
    kinds = {"gres": "GRES", "license": "License", "bb": "BB"}
    return words.get(resource, kinds.get(resource.partition("/")[0], "Unknown"))


_RUN_MINUTES = {"cpu": "QOSMaxCpuMinutesPerJobLimit", "": "QOSMax{}MinutesPerJob"}
"""Slurm says of the minutes to go of a user or an account what it says of those of a job."""

_KINDS = (
    LimitKind("grp_jobs", "grp_jobs", RUNNING, ALL, {"": "AssocGrpJobsLimit"}, {"": "QOSGrpJobsLimit"}),
    LimitKind("max_jobs_per_account", "max_jobs_pa", RUNNING, ACCOUNT, None, {"": "MaxJobsPerAccount"}),
    LimitKind("max_jobs_per_user", "max_jobs_pu", RUNNING, USER, None, {"": "QOSMaxJobsPerUserLimit"}),
    LimitKind("max_jobs", "max_jobs", RUNNING, USER, {"": "AssocMaxJobsLimit"}),
    LimitKind(
        "grp_submit_jobs",
        "grp_submit_jobs",
        SUBMITTED,
        ALL,
        {"": "AssocGrpSubmitJobsLimit"},
        {"": "QOSGrpSubmitJobsLimit"},
    ),
    LimitKind(
        "max_submit_per_account", "max_submit_jobs_pa", SUBMITTED, ACCOUNT, None, {"": "MaxSubmitJobsPerAccount"}
    ),
    LimitKind("max_submit_per_user", "max_submit_jobs_pu", SUBMITTED, USER, None, {"": "QOSMaxSubmitJobPerUserLimit"}),
    LimitKind("max_submit", "max_submit_jobs", SUBMITTED, USER, {"": "AssocMaxSubmitJobLimit"}),
    LimitKind(
        "grp_tres",
        "grp_tres",
        TRES,
        ALL,
        {"cpu": "AssocGrpCpuLimit", "mem": "AssocGrpMemLimit", "node": "AssocGrpNodeLimit", "": "AssocGrp{}"},
        {"cpu": "QOSGrpCpuLimit", "mem": "QOSGrpMemLimit", "node": "QOSGrpNodeLimit", "": "QOSGrp{}"},
    ),
    LimitKind(
        "grp_tres_run_mins",
        "grp_tres_run_mins",
        TO_GO,
        ALL,
        {"cpu": "AssocGrpCPURunMinutesLimit", "": "AssocGrp{}RunMinutes"},
        {"cpu": "QOSGrpCPURunMinutesLimit", "": "QOSGrp{}RunMinutes"},
    ),
    LimitKind("max_tres_per_account", "max_tres_pa", TRES, ACCOUNT, None, {"": "Max{}PerAccount"}),
    LimitKind(
        "max_tres_per_user",
        "max_tres_pu",
        TRES,
        USER,
        None,
        {"cpu": "QOSMaxCpuPerUserLimit", "node": "QOSMaxNodePerUserLimit", "": "QOSMax{}PerUser"},
    ),
    LimitKind("max_tres_run_mins_per_account", "max_tres_run_mins_pa", TO_GO, ACCOUNT, None, _RUN_MINUTES),
    LimitKind("max_tres_run_mins_per_user", "max_tres_run_mins_pu", TO_GO, USER, None, _RUN_MINUTES),
    LimitKind(
        "max_wall",
        "max_wall_pj",
        SECONDS,
        JOB,
        {"": "AssocMaxWallDurationPerJobLimit"},
        {"": "QOSMaxWallDurationPerJobLimit"},
    ),
    LimitKind(
        "max_tres_per_job",
        "max_tres_pj",
        TRES,
        JOB,
        {"cpu": "AssocMaxCpuPerJobLimit", "node": "AssocMaxNodePerJobLimit", "": "AssocMax{}PerJob"},
        {"cpu": "QOSMaxCpuPerJobLimit", "node": "QOSMaxNodePerJobLimit", "": "QOSMax{}PerJob"},
    ),
    LimitKind("max_tres_per_node", "max_tres_pn", OF_NODE, JOB, {"": "AssocMax{}PerNode"}, {"": "QOSMax{}PerNode"}),
    LimitKind(
        "max_tres_mins_per_job",
        "max_tres_mins_pj",
        MINUTES,
        JOB,
        {"cpu": "AssocMaxCpuMinutesPerJobLimit", "": "AssocMax{}MinutesPerJob"},
        _RUN_MINUTES,
    ),
    LimitKind("min_tres_per_job", "min_tres_pj", LEAST, JOB, None, {"cpu": "QOSMinCpuNotSatisfied", "": "QOSMin{}"}),
    LimitKind("grp_tres_mins", "grp_tres_mins", MINUTES, ALL),
    LimitKind("grp_wall", "grp_wall", SECONDS, ALL),
)

LIMIT_KINDS: Mapping[str, LimitKind] = {kind.name: kind for kind in _KINDS}
"""All kinds by name, in the order in which Slurm checks them."""

SUBMISSION_REASONS = frozenset(
    reason
    for kind in _KINDS
    if kind.amount == SUBMITTED
    for reasons in (kind.association, kind.qos)
    for reason in (reasons or {}).values()
)
"""Reasons of waiting outside the queue, as Slurm refuses a submission."""
