"""Releases of Slurm, and which parameters only some of them know.

What is said of a release was seen on it: 22.05.8, 24.11.5 and 26.05.5 read a slurm.conf with each parameter, and the
programs and manual pages of Debian's 20.11 were searched for it. Between two of these, the exact release is not known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.wording import shown

RELEASES = (
    "14.03", "14.11", "15.08", "16.05", "17.02", "17.11", "18.08", "19.05", "20.02", "20.11", "21.08", "22.05", "23.02",
    "23.11", "24.05", "24.11", "25.05", "25.11", "26.05",
)  # fmt: skip
"""All since 2014, in order."""

Lifetime = tuple[str, str]
"""The newest release that is known not to have a parameter yet, and the oldest known to refuse it; empty: none."""

_NOT_YET_IN_22 = "22.05", ""
_NOT_YET_IN_24 = "24.11", ""
_GONE_IN_20, _GONE_IN_22, _GONE_IN_24, _GONE_IN_26 = ("", "20.11"), ("", "22.05"), ("", "24.11"), ("", "26.05")

_ROWS: tuple[tuple[str, Lifetime, str], ...] = (
    ("slurm.conf", _GONE_IN_22,
     "CacheGroups SchedulerPort SchedulerRootFilter CheckpointType JobCheckpointDir MemLimitEnforce "
     "AccountingStoreJobComment DefaultStorageHost DefaultStorageLoc DefaultStoragePass DefaultStoragePort "
     "DefaultStorageType DefaultStorageUser AccountingStorageLoc SallocDefaultCommand"),
    ("slurm.conf", _GONE_IN_20, "FastSchedule"),
    ("SchedulerParameters", _GONE_IN_20, "max_job_bf"),
    ("slurm.conf", _GONE_IN_24, "SchedulerAuth SlurmctldPlugstack"),
    ("FrontendName", _GONE_IN_26, "FrontendName"),
    ("SelectType", _GONE_IN_24, "select/cons_res select/cray_aries"),
    ("SelectTypeParameters", _GONE_IN_24, "OTHER_CONS_RES OTHER_CONS_TRES"),
    ("slurm.conf", _NOT_YET_IN_22,
     "PreemptParameters SuspendExcStates HashPlugin DataParserParameters TLSType TLSParameters CertmgrType "
     "CertmgrParameters"),
    ("slurm.conf", _NOT_YET_IN_24,
     "PrologTimeout EpilogTimeout NamespaceType UrlParserType CertgenType CertgenParameters MetricsType "
     "MetricsParameters MetricsAuthUsers LicenseParameters HealthCheckTimeout HttpParserType CliFilterParameters "
     "SlurmctldHttpAuthParameters SlurmdHttpAuthParameters"),
    ("SchedulerParameters", _NOT_YET_IN_22,
     "bf_allow_magnetic_slot bf_topopt_enable bf_topopt_iterations defer_batch extra_constraints "
     "ignore_constraint_validation time_min_as_soft_limit max_submit_line_size"),
    ("SchedulerParameters", _NOT_YET_IN_24, "bf_yield_rpc_cnt requeue_delay requeue_on_resume_failure"),
    ("SelectTypeParameters", _NOT_YET_IN_22,
     "ENFORCE_BINDING_GRES ONE_TASK_PER_SHARING_GRES LL_SHARED_GRES MULTIPLE_SHARING_GRES_PJ"),
    ("SelectTypeParameters", _NOT_YET_IN_24, "CR_NO_DIST_TOPO_BLOCK"),
    ("NodeName", _NOT_YET_IN_22, "RestrictedCoresPerGPU"),
    ("PartitionName", _NOT_YET_IN_22, "MaxCPUsPerSocket ExclusiveTopo PowerDownOnIdle"),
    ("PartitionName", _NOT_YET_IN_24, "Topology Exclusive"),
    ("sacct", _NOT_YET_IN_22, "Planned PlannedCPU Restarts QOSREQ FailedNode Licenses Extra"),
    ("sacct", ("20.11", ""), "SubmitLine Container"),
    ("sacct", _GONE_IN_24, "Reserved ResvCPU"),
)  # fmt: skip

LIFETIMES: dict[tuple[str, str], Lifetime] = {
    (place, name.lower()): life for place, life, names in _ROWS for name in names.split()
}
"""By place and name in lower case; columns of sacct are of the place "sacct"."""


@explained
@dataclass(frozen=True, slots=True)
class SlurmRelease:
    """Which Slurm a site runs, as far as that is known.

    Parameters
    ----------
    oldest, newest
        The bounds, such as "22.05"; empty: none.
    source
        How that is known.

    Examples
    --------
    >>> str(SlurmRelease("24.11", "24.11", "given")), str(SlurmRelease(newest="21.08"))
    ('24.11', '21.08 or earlier')
    >>> SlurmRelease("24.11", "24.11").refuses("slurm.conf", "CacheGroups")
    True
    """

    oldest: str = ""
    newest: str = ""
    source: str = ""

    @classmethod
    @explained
    def given(cls, text: str) -> SlurmRelease:
        """Return the release that a user names.

        Raises
        ------
        InputError
            If it is not written like one.
        """
        found = re.fullmatch(r"(\d\d\.\d\d)(\.\d+)*(-\d+)?", text.strip())
        if found is None:
            raise InputError(f"Slurm {shown(text)}: must be a release such as 22.05 or 24.11")
        return cls(found[1], found[1], "given")

    def __str__(self) -> str:
        if self.oldest and self.newest:
            return self.oldest if self.oldest == self.newest else f"{self.oldest} to {self.newest}"
        return f"{self.oldest} or later" if self.oldest else f"{self.newest} or earlier" if self.newest else "not known"

    def refuses(self, place: str, name: str) -> bool:
        """Return whether slurmctld of all these releases would not know a parameter."""
        absent, gone = LIFETIMES.get((place, name.lower()), ("", ""))
        return bool(
            (absent and self.newest and self.newest <= absent) or (gone and self.oldest and self.oldest >= gone)
        )


def default_select(release: SlurmRelease) -> dict[str, str]:
    """Return what a slurm.conf that says nothing of it means, by name in lower case; nothing if that is not known.

    Examples
    --------
    >>> default_select(SlurmRelease("22.05", "22.05"))
    {'selecttype': 'select/linear'}
    >>> default_select(SlurmRelease(oldest="24.11"))
    {'selecttype': 'select/cons_tres', 'selecttypeparameters': 'CR_Core_Memory'}
    >>> default_select(SlurmRelease("22.05", "24.05"))
    {}
    """
    if release.newest and release.newest < SHARED_SINCE:
        return {"selecttype": "select/linear"}
    if release.oldest >= SHARED_SINCE:
        return {"selecttype": "select/cons_tres", "selecttypeparameters": "CR_Core_Memory"}
    return {}


SHARED_SINCE = "23.11"
"""The first release under which jobs share nodes where a slurm.conf has no SelectType, by its release notes."""

NOT_KNOWN = SlurmRelease()
"""Of which nothing is known."""


def within(place: str, name: str) -> SlurmRelease:
    """Return the releases that know a parameter, as far as that is known.

    Examples
    --------
    >>> str(within("slurm.conf", "CacheGroups")), str(within("sacct", "Planned"))
    ('21.08 or earlier', '23.02 or later')
    """
    absent, gone = LIFETIMES.get((place, name.lower()), ("", ""))
    oldest = RELEASES[RELEASES.index(absent) + 1] if absent else ""
    return SlurmRelease(oldest, RELEASES[RELEASES.index(gone) - 1] if gone else "")
