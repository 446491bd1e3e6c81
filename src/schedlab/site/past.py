"""The past of a site under its own scheduler: calibrated where waits are recorded, else only replayed."""

from __future__ import annotations

from os import PathLike
from typing import NamedTuple

from schedlab.schedule.schedule import Schedule
from schedlab.site.calibration import Calibration, calibrate
from schedlab.site.jobs import left_out_texts, replay
from schedlab.site.omissions import Omissions, omissions_of
from schedlab.site.site import Site, read


class Replayed(NamedTuple):
    """A site, its jobs under its own scheduler, and how far these are from the record.

    Parameters
    ----------
    site
        The site.
    twin
        Its jobs, replayed on its nodes.
    calibration
        The twin beside the record; None: no waits are recorded.
    omissions
        What is approximated, ignored and left out.
    """

    site: Site
    twin: Schedule
    calibration: Calibration | None
    omissions: Omissions


def replayed(site: Site | str | PathLike[str]) -> Replayed:
    """Replay the jobs of a site under its own scheduler.

    Parameters
    ----------
    site
        With jobs; or its directory, which then keeps the verdict of the calibration for later answers.

    Raises
    ------
    InputError
        If no job can be replayed.
    """
    opened = site if isinstance(site, Site) else read(site)
    kept = opened.replayable()
    calibration, left_out = None, kept.left_out
    if bool((kept.jobs.wait_time >= 0).any()):
        calibration = calibrate(site)
        twin, left_out = calibration.simulated, dict(calibration.left_out)
    else:
        twin = replay(kept.jobs, opened.scheduler, opened.cluster, nodes=True, node_events=opened.node_events)
    return Replayed(opened, twin, calibration, omissions_of(opened, left_out_texts(left_out), nodes=True))
