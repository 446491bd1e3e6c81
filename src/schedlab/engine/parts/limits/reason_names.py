"""Slurm's reasons why a job is held by a limit, by limit and resource, as `squeue` shows them.

They are irregular; the texts are those of slurmctld 22.05.
"""

from __future__ import annotations

_ASSOCIATION = {
    "grp_tres": {"cpu": "AssocGrpCpuLimit", "mem": "AssocGrpMemLimit", "node": "AssocGrpNodeLimit", "": "AssocGrp{}"},
    "grp_tres_run_mins": {"cpu": "AssocGrpCPURunMinutesLimit", "": "AssocGrp{}RunMinutes"},
    "max_tres_per_job": {"cpu": "AssocMaxCpuPerJobLimit", "node": "AssocMaxNodePerJobLimit", "": "AssocMax{}PerJob"},
    "max_tres_per_node": {"": "AssocMax{}PerNode"},
    "max_tres_mins_per_job": {"cpu": "AssocMaxCpuMinutesPerJobLimit", "": "AssocMax{}MinutesPerJob"},
    "grp_jobs": {"": "AssocGrpJobsLimit"},
    "max_jobs": {"": "AssocMaxJobsLimit"},
    "max_wall": {"": "AssocMaxWallDurationPerJobLimit"},
    "grp_submit_jobs": {"": "AssocGrpSubmitJobsLimit"},
    "max_submit": {"": "AssocMaxSubmitJobLimit"},
}
_QOS = {
    "grp_tres": {"cpu": "QOSGrpCpuLimit", "mem": "QOSGrpMemLimit", "node": "QOSGrpNodeLimit", "": "QOSGrp{}"},
    "grp_tres_run_mins": {"cpu": "QOSGrpCPURunMinutesLimit", "": "QOSGrp{}RunMinutes"},
    "max_tres_per_user": {"cpu": "QOSMaxCpuPerUserLimit", "node": "QOSMaxNodePerUserLimit", "": "QOSMax{}PerUser"},
    "max_tres_per_account": {"": "Max{}PerAccount"},
    "max_tres_run_mins_per_user": {"cpu": "QOSMaxCpuMinutesPerJobLimit", "": "QOSMax{}MinutesPerJob"},
    "max_tres_run_mins_per_account": {"cpu": "QOSMaxCpuMinutesPerJobLimit", "": "QOSMax{}MinutesPerJob"},
    "max_tres_per_job": {"cpu": "QOSMaxCpuPerJobLimit", "node": "QOSMaxNodePerJobLimit", "": "QOSMax{}PerJob"},
    "max_tres_per_node": {"": "QOSMax{}PerNode"},
    "max_tres_mins_per_job": {"cpu": "QOSMaxCpuMinutesPerJobLimit", "": "QOSMax{}MinutesPerJob"},
    "min_tres_per_job": {"cpu": "QOSMinCpuNotSatisfied", "": "QOSMin{}"},
    "grp_jobs": {"": "QOSGrpJobsLimit"},
    "max_jobs_per_user": {"": "QOSMaxJobsPerUserLimit"},
    "max_jobs_per_account": {"": "MaxJobsPerAccount"},
    "max_wall": {"": "QOSMaxWallDurationPerJobLimit"},
    "grp_submit_jobs": {"": "QOSGrpSubmitJobsLimit"},
    "max_submit_per_user": {"": "QOSMaxSubmitJobPerUserLimit"},
    "max_submit_per_account": {"": "MaxSubmitJobsPerAccount"},
}


def reason_of(limit: str, resource: str = "", *, qos: bool) -> str:
    """Return the reason of a job that would exceed a limit.

    Parameters
    ----------
    limit
        A field of `schedlab.cluster.limits.Limits`.
    resource
        Such as "cpu", "mem", "node", "gres/gpu"; empty for limits of jobs and times.
    qos
        Whether it is a limit of a QOS; otherwise, of an account or a user in it.

    Examples
    --------
    >>> reason_of("grp_tres", "cpu", qos=False), reason_of("max_tres_per_user", "gres/gpu:a100", qos=True)
    ('AssocGrpCpuLimit', 'QOSMaxGRESPerUser')
    >>> reason_of("grp_tres_run_mins", "mem", qos=True), reason_of("max_jobs", qos=False)
    ('QOSGrpMemoryRunMinutes', 'AssocMaxJobsLimit')
    """
    known = (_QOS if qos else _ASSOCIATION)[limit]
    return known.get(resource, known[""]).format(_word(resource, qos=qos))


def _word(resource: str, *, qos: bool) -> str:
    """Return Slurm's name of a resource in a reason."""
    words = {"cpu": "Cpu", "mem": "Memory" if qos else "Mem", "node": "Node", "energy": "Energy", "billing": "Billing"}
    kinds = {"gres": "GRES", "license": "License", "bb": "BB"}
    return words.get(resource, kinds.get(resource.partition("/")[0], "Unknown"))
