"""Why jobs wait at a site: who carries the mean wait, for what they wait, which nodes and limits it is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.durations import DAY
from schedlab.engine.machine.requests import unchecked_inputs
from schedlab.schedule.schedule import Schedule
from schedlab.site.asked import attributes
from schedlab.site.bottlenecks import Demand, NodesInDemand
from schedlab.site.brought_work import BroughtWork, brought_work, core_seconds, offered_load
from schedlab.site.calibration import Calibration
from schedlab.site.carriers import Carrier, WaitShare, carriers, shares_by, wait_share
from schedlab.site.causes import WaitCauses, kind_of, wait_causes
from schedlab.site.half_empty import HalfEmpty, half_empty
from schedlab.site.half_empty_text import change_to_try
from schedlab.site.limit_costs import LimitCost, limit_costs
from schedlab.site.log_end import after_the_log
from schedlab.site.omissions import Omissions
from schedlab.site.past import replayed
from schedlab.site.site import Site
from schedlab.workload.resources import Labels

HOUR = 3600

AFTER = "after"
"""Beside the causes: waiting after the last submission, when no other jobs come."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SiteExplanation:
    """Why the jobs of a site wait.

    Parameters
    ----------
    site
        Its name.
    twin
        Its jobs under its own scheduler, on its nodes.
    calibration
        The twin beside what was recorded; None: no waits are recorded.
    labels
        By what jobs are told apart, see `schedlab.site.asked.attributes`.
    carriers
        The groups that carry the mean wait, the most telling first, and the rest.
    brought
        What the first of these groups brings.
    offered
        The work of all jobs as a share of what all nodes can do until the last submission.
    causes
        What the jobs wait for, in the twin.
    kinds, groups
        Use of the nodes that jobs ask for and of each group of nodes, and the queue for them, in the twin.
    half_empty
        The nodes before which most is waited while they are half empty, in the twin; None: no job waits so.
    change
        A change that may leave more nodes empty, as `site what-if --set` takes it; "": none is known.
    limits
        What limits cost, in the twin.
    omissions
        What is approximated, ignored and left out.
    directory
        Where the site lies, for commands that ask further; "SITE": it is not known.
    """

    site: str
    twin: Schedule
    calibration: Calibration | None
    labels: Mapping[str, Labels]
    carriers: tuple[Carrier, ...]
    brought: BroughtWork
    offered: float
    causes: WaitCauses
    kinds: tuple[NodesInDemand, ...]
    groups: tuple[NodesInDemand, ...]
    half_empty: HalfEmpty | None
    change: str
    limits: tuple[LimitCost, ...]
    omissions: Omissions
    directory: str = "SITE"

    @property
    def recorded(self) -> Schedule | None:
        """The same jobs as recorded; None: no waits are."""
        return None if self.calibration is None else self.calibration.recorded

    @property
    def waits(self) -> NDArray[np.int64]:
        """Seconds that each job waited: as recorded or, where nothing is, in the twin."""
        return (self.recorded or self.twin).wait_time

    def share(self, carrier: Carrier, waits: NDArray[np.int64] | None = None) -> WaitShare:
        """Return what a carrier has of all waiting; by default, of that which `waits` has."""
        from schedlab.site.explained import whose

        return wait_share("carrier", whose(self, carrier), self.waits if waits is None else waits, carrier.rows)

    def shares(self, kind: str) -> list[WaitShare]:
        """Return what each group of a kind, a key of `labels`, has of all waiting."""
        return shares_by(kind, self.labels[kind], self.waits)

    def shares_of_causes(self, rows: NDArray[np.intp] | slice = slice(None)) -> dict[str, float]:
        """Return the share of each cause in the waiting of some jobs until the last submission and, as `AFTER`, of all
        that is waited later; the largest first."""
        inside, total = self.causes.totals(rows, inside=True), sum(self.causes.totals(rows).values())
        seconds = inside | {AFTER: total - sum(inside.values())}
        return {cause: one / total for cause, one in sorted(seconds.items(), key=lambda each: -each[1]) if one}

    def busiest_day(self) -> tuple[int, float]:
        """Return the day, from 1, whose jobs waited most together, and their share of all waiting."""
        submit = self.twin.workload.submit_time
        sums = np.bincount((submit - submit.min()) // DAY, weights=self.waits.astype(np.float64))
        return int(sums.argmax()) + 1, float(sums.max() / max(sums.sum(), 1))

    def after_the_log(self) -> float:
        """Return the share of all waiting in the twin that comes after the last submission."""
        return after_the_log(self.twin)

    def sentences(self) -> list[str]:
        """Return the answer in plain sentences: how sure it is, then who waits, and why."""
        from schedlab.site.explained import first_sentences, other_sentences

        return [*first_sentences(self), *other_sentences(self)]

    def to_document(self) -> dict[str, Any]:
        """Return the answer as numbers and texts, for JSON."""
        return {
            "site": self.site,
            "scheduler": self.twin.scheduler,
            "verdict": None if self.calibration is None else self.calibration.verdict,
            "waits": "twin" if self.recorded is None else "recorded",
            "sentences": self.sentences(),
            "jobs": len(self.twin),
            "mean_wait": float(self.waits.mean()),
            "median_wait": float(np.median(self.waits)),
            "carriers": list(self._carriers()),
            "groups": {kind: [asdict(one) for one in self.shares(kind)] for kind in self.labels},
            "brought": asdict(self.brought),
            "offered_load": self.offered,
            "causes": list(self._causes()),
            "share_after_last_submission": self.after_the_log(),
            "half_empty": None if self.half_empty is None else asdict(self.half_empty) | {"try": self.change},
            "hours_with_room_elsewhere": float(self.causes.elsewhere.sum()) / HOUR,
            "node_kinds": [_of_nodes(one) for one in self.kinds],
            "node_groups": [_of_nodes(one) for one in self.groups],
            "limits": [asdict(one) for one in self.limits],
            "omissions": self.omissions.to_document(),
        }

    def _causes(self) -> Iterator[dict[str, Any]]:
        inside = self.causes.totals(inside=True)
        for cause, seconds in self.causes.totals().items():
            hours = {"hours": seconds / HOUR, "hours_until_last_submission": inside.get(cause, 0) / HOUR}
            yield {"cause": cause, "kind": kind_of(cause)} | hours

    def _carriers(self) -> Iterator[dict[str, Any]]:
        for one in self.carriers:
            told = asdict(self.share(one)) | {"told_apart": dict(one.told_apart), "shared": dict(one.shared)}
            told |= {
                "causes": self.shares_of_causes(one.rows),
                "mean_twin": float(self.twin.wait_time[one.rows].mean()),
            }
            yield told

    def __str__(self) -> str:
        from schedlab.site.explained import explained_text

        return explained_text(self)

    def __repr__(self) -> str:
        return f"SiteExplanation({self.site}: {len(self.twin):,} jobs)"


def _of_nodes(one: NodesInDemand) -> dict[str, Any]:
    names = ("name", "features", "nodes", "cores", "gpus", "busy", "waited_for", "full", "job_hours", "longest")
    return {name: getattr(one, name) for name in names}


@explained
def explain(site: Site | str | PathLike[str]) -> SiteExplanation:
    """Replay the jobs of a site under its own scheduler, and tell why they wait.

    Parameters
    ----------
    site
        With jobs, or its directory, which then keeps the verdict of the calibration. Where waits are recorded, who
        carries the mean wait is told from the record, and the twin is calibrated; what jobs wait for is always told by
        the twin.

    Raises
    ------
    InputError
        If no job can be replayed.

    Examples
    --------
    Two nodes; one user asks for both, three times, and the job of another one comes in between.

    >>> import pathlib, tempfile, schedlab as sl
    >>> there = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (there / "slurm.conf").write_text("ClusterName=lab\\nNodeName=n[1-2] CPUs=4\\n"
    ...                                       "PartitionName=batch Nodes=ALL Default=YES\\n")
    >>> _ = (there / "jobs.csv").write_text("submit_time,run_time,requested_time,requested_processors,user_id\\n"
    ...                                     "0,3600,3600,8,1\\n1,3600,3600,8,1\\n2,3600,3600,8,1\\n3601,60,60,4,2\\n")
    >>> found = sl.site.explain(sl.site.import_site(there / "slurm.conf", there / "jobs.csv"))
    >>> found.shares("user")[0].group, round(found.shares("user")[0].share_of_waiting, 2)
    ('user 1', 0.6)
    """
    past, directory = replayed(site), "SITE" if isinstance(site, Site) else os.fspath(site)
    site, twin, calibration = past.site, past.twin, past.calibration
    inputs = unchecked_inputs(twin.workload, site.cluster, site.scheduler.placement)
    causes = wait_causes(twin, inputs)
    demand = Demand(twin, inputs, causes)
    labels = attributes(twin, inputs, site.cluster)
    waits = twin.wait_time if calibration is None else calibration.recorded.wait_time
    parts = half_empty(twin, inputs, causes, labels["node kind"])
    groups = tuple(carriers(waits, labels))
    work, submit = core_seconds(twin), twin.workload.submit_time
    return SiteExplanation(
        site.name,
        twin,
        calibration,
        labels,
        groups,
        brought_work(work, submit, groups[0].rows, inputs),
        offered_load(work, submit, inputs),
        causes,
        demand.of_kinds(labels["node kind"]),
        demand.of_groups(site.cluster),
        parts,
        "" if parts is None else change_to_try(parts, site.cluster, site.scheduler),
        limit_costs(twin, site.cluster, causes),
        past.omissions,
        directory,
    )
