"""What becomes of parameters of slurm.conf as Slurm is upgraded: refused, no longer read, or of another meaning.

All was seen on unmodified programs of 22.05.8, 24.11.5 and 26.05.5, or stands in the manual pages of one and not in
those of another; between these versions, the exact release is not known. Which parameters a version refuses is said in
`schedlab.cluster.slurm_releases`; what to write instead, here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

How = Literal["refused", "not read", "elsewhere", "default", "otherwise"]
"""What becomes of a parameter.

"refused": slurmctld does not start with it. "not read": it starts, and passes over it. "elsewhere": it is still read,
and the manual has it in another place. "default": where it is not set, its value changes. "otherwise": what it does
changes.
"""


@dataclass(frozen=True, slots=True)
class KeyChange:
    """What becomes of a parameter.

    Parameters
    ----------
    place, name
        As in `schedlab.site.parameters`.
    first
        The first version in which it is known to be so.
    how
        What becomes of it.
    instead
        What to write instead, or what changes.
    seen
        Where that was seen.
    """

    place: str
    name: str
    first: str
    how: How
    instead: str
    seen: str


_OUT = "take it out"
_DEFUNCT = "slurmctld: The option is defunct, please remove it from slurm.conf"
_MANUAL = "slurm.conf(5)"
_SHOWN = "scontrol show config"

_ROWS: tuple[tuple[str, str, str, How, str, str], ...] = (
    ("SelectType", "select/cons_res", "24.11", "refused", "select/cons_tres, which does what it did",
     "slurmctld: Can't find plugin for select/cons_res"),
    ("SelectType", "select/cray_aries", "24.11", "refused", "select/cons_tres or select/linear", _MANUAL),
    ("SelectTypeParameters", "OTHER_CONS_RES OTHER_CONS_TRES", "24.11", "refused", _OUT,
     "slurmctld: Unable to process configuration file"),
    ("slurm.conf", "FastSchedule", "20.11", "refused", "for 2, SlurmdParameters=config_overrides; for 0, nothing",
     "slurmctld: The FastSchedule option has been removed"),
    ("slurm.conf", "AccountingStoreJobComment", "22.05", "refused", "AccountingStoreFlags=job_comment",
     "slurmctld: The AccountingStoreJobComment option has been removed"),
    ("slurm.conf", "SallocDefaultCommand", "22.05", "refused", "LaunchParameters=use_interactive_step",
     "slurmctld: SallocDefaultCommand has been removed"),
    ("slurm.conf", "SchedulerAuth SlurmctldPlugstack", "24.11", "refused", _OUT, "scontrol: unrecognized key"),
    ("FrontendName", "FrontendName", "26.05", "refused", "take it out: there are no front ends any more",
     "scontrol: unrecognized key"),
    ("slurm.conf", "CoreSpecPlugin PowerPlugin ExtSensorsType", "24.11", "not read", _OUT, _DEFUNCT),
    ("slurm.conf", "LaunchType PowerParameters ExtSensorsFreq", "24.11", "not read", _OUT, _MANUAL),
    ("slurm.conf", "RoutePlugin", "24.11", "not read", "for route/topology, TopologyParam=RouteTree", _MANUAL),
    ("slurm.conf", "GetEnvTimeout AccountingStorageUser", "26.05", "not read", _OUT, _DEFUNCT),
    ("SchedulerParameters", "no_env_cache requeue_setup_env_fail enable_job_state_cache", "26.05", "not read", _OUT,
     _MANUAL),
    ("SchedulerParameters", "preempt_reorder_count", "24.11", "elsewhere", "PreemptParameters=reorder_count=",
     "read by both, slurm-preemption.json: part 1; the manual has it there alone"),
    ("SchedulerParameters", "preempt_youngest_first", "24.11", "elsewhere", "PreemptParameters=youngest_first",
     "read by both, slurm-preemption.json: youngest first; the manual has it there alone"),
    ("SchedulerParameters", "preempt_strict_order", "24.11", "elsewhere", "PreemptParameters=strict_order", _MANUAL),
    ("SchedulerParameters", "preempt_send_user_signal", "24.11", "elsewhere", "PreemptParameters=send_user_signal",
     _MANUAL),
    ("PreemptType", "preempt/none", "24.11", "elsewhere", "leave PreemptType out, which means the same", _MANUAL),
    ("slurm.conf", "ControlMachine ControlAddr BackupController BackupAddr", "26.05", "elsewhere", "SlurmctldHost",
     _MANUAL),
    ("slurm.conf", "JobContainerType", "26.05", "elsewhere", "NamespaceType",
     "slurmctld: JobContainerType has been replaced with NamespaceType and will be removed in a future release"),
    ("PartitionName", "ExclusiveTopo", "26.05", "elsewhere", "Exclusive=TOPO", _MANUAL),
    ("PartitionName", "AllowQOS", "26.05", "otherwise", "slurmctld does not start if it names an unknown QOS",
     "slurmctld: Partition ... has an invalid AllowQOS"),
    ("slurm.conf", "PriorityType", "24.11", "default",
     "becomes priority/multifactor (was priority/basic): weights that are set then count", _SHOWN),
    ("slurm.conf", "SelectType", "24.11", "default",
     "becomes select/cons_tres with CR_Core_Memory (was select/linear): jobs no longer get whole nodes", _SHOWN),
    ("slurm.conf", "UnkillableStepTimeout", "24.11", "default",
     "becomes at least five times MessageTimeout (was 60 s)", _SHOWN),
    ("slurm.conf", "TreeWidth", "24.11", "default", "becomes 16 (was 50)", _MANUAL),
)  # fmt: skip

KEY_CHANGES = tuple(
    KeyChange(place, name, first, how, instead, seen)
    for place, names, first, how, instead, seen in _ROWS
    for name in names.split()
)

OF_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "requeued_keep_place": (("PriorityType", "priority/basic"),),
    "licenses_stop": (("SchedulerParameters", "assoc_limit_stop"),),
    "run_minutes_late": (("sacctmgr", "GrpTRESRunMins"),),
    "grace_until_look": (("PartitionName", "GraceTime"), ("sacctmgr", "GraceTime")),
    "exempt_from_suspension": (("slurm.conf", "PreemptExemptTime"), ("sacctmgr", "PreemptExemptTime")),
    "returns": (("PreemptType", "preempt/qos"), ("PreemptType", "preempt/partition_prio")),
    "gang_turns": (("slurm.conf", "PreemptMode"),),
    "tree_leaves": (("slurm.conf", "TopologyPlugin"),),
    "memory_cores": (("slurm.conf", "MaxMemPerCPU"), ("PartitionName", "MaxMemPerCPU")),
    "per_node_by_tasks": (("sacctmgr", "MaxTRESPerNode"),),
    "caps_count_all": (("PartitionName", "MaxCPUsPerNode"),),
    "leaves_hold_tasks": (("slurm.conf", "TopologyPlugin"),),
    "busy_second": (("SchedulerParameters", "bf_busy_nodes"),),
    "least_loaded": (("PartitionName", "LLN"), ("SelectTypeParameters", "CR_LLN")),
    "rates_forget_shares": (("slurm.conf", "SuspendTime"),),
}
"""The parameters without which a rule of `schedlab.scheduler.slurm_versions` has no effect, by place and name."""


REMEDIES = {
    ("SelectType", "select/cons_res"): "SelectType=select/cons_tres",
    ("SelectTypeParameters", "other_cons_res"): "SelectTypeParameters.OTHER_CONS_RES=",
    ("SelectTypeParameters", "other_cons_tres"): "SelectTypeParameters.OTHER_CONS_TRES=",
}
"""Changes, as `schedlab.site.parse_change` reads them, without which a newer version does not start."""


def changes_between(old: str, new: str) -> tuple[KeyChange, ...]:
    """Return what changes from one version to a newer one.

    Examples
    --------
    >>> [one.name for one in changes_between("24.11", "26.05") if one.how == "refused"]
    ['FrontendName']
    """
    return tuple(one for one in KEY_CHANGES if old < one.first <= new)


def instead_of(place: str, name: str) -> str:
    """Return what to write instead of a parameter that a version refuses."""
    told = (
        one.instead for one in KEY_CHANGES if one.how == "refused" and (one.place, one.name.lower()) == (place, name)
    )
    return next(told, _OUT)
