"""`schedlab when ACCOUNTING --squeue FILE`: when jobs of a queue will start, without the cluster's configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.cli.site_starts import SiteQuestion, new_job, numbers, snapshot_of
from schedlab.cli.terminal import show, show_json

if TYPE_CHECKING:
    from schedlab.when.forks import Forking
    from schedlab.workload.workload import Workload


def answer_from_queue(past: Workload, asked: SiteQuestion, how: Forking, *, as_json: bool) -> None:
    """Print when jobs of a queue will start, by its state alone."""
    from schedlab.when.queue_forecast import from_queue
    from schedlab.when.texts import queue_text

    options = {"samples": how.forks, "seed": how.seed}
    found = from_queue(past, snapshot_of(asked), numbers(asked.jobs), new=new_job(asked), **options)
    if not as_json:
        show(queue_text(found))
        return
    judged = None if found.judged is None else found.judged._asdict()
    told = {
        "now": found.starts.now,
        "method": found.starts.methods[0],
        "past_jobs": found.past,
        "forest": found.learned,
    }
    show_json({**told, "judged": judged, "jobs": found.starts.to_dicts()})
