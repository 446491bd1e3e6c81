"""The factors of multifactor priorities at an instant, as Slurm's `sprio` shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.display import as_html
from schedlab.engine.decisions.starts import waiting_jobs
from schedlab.engine.prepared import Prepared
from schedlab.engine.world import World
from schedlab.wording import table

if TYPE_CHECKING:
    import pandas as pd

FACTORS = ("age", "fairshare", "size", "partition", "qos", "tres")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Priorities:
    """The priorities of the waiting jobs at an instant, and the contribution of each factor; the highest first.

    Parameters
    ----------
    second
        The instant, in seconds on the workload's clock.
    computed
        When priorities were last computed; jobs that came later got theirs when they entered the queue.
    job_id, user_id
        int64, one per waiting job: numbers in the workload.
    priority
        float64: the priority that orders the queue, a whole number.
    age, fairshare, size, partition, qos, tres
        float64: weighted, as `sprio` prints them; divided by the weights they lie between 0 and 1.
    row
        Rows of the workload.
    """

    second: int
    computed: int
    job_id: NDArray[np.int64]
    user_id: NDArray[np.int64]
    priority: NDArray[np.float64]
    age: NDArray[np.float64]
    fairshare: NDArray[np.float64]
    size: NDArray[np.float64]
    partition: NDArray[np.float64]
    qos: NDArray[np.float64]
    tres: NDArray[np.float64]
    row: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.job_id)

    def __repr__(self) -> str:
        return f"<Priorities: {len(self)} waiting jobs at second {self.second}>"

    def __str__(self) -> str:
        names = ("priority", *FACTORS)
        weighted = zip(*(getattr(self, name).tolist() for name in names), strict=True)
        who = zip(self.job_id.tolist(), self.user_id.tolist(), strict=True)
        rows = [
            [*map(str, one), *(f"{value:.0f}" for value in values)] for one, values in zip(who, weighted, strict=True)
        ]
        head = f"second {self.second:,}; priorities were computed at second {self.computed:,}"
        return f"{head}\n{table(['job', 'user', *names], rows)}"

    _repr_html_ = as_html

    def to_frame(self) -> pd.DataFrame:
        """Return the table with one row per waiting job."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in ("job_id", "user_id", "priority", *FACTORS)})


def priorities_of(prepared: Prepared, world: World, second: int) -> Priorities | None:
    """Return the priorities of the waiting jobs; None unless the policy is multifactor.

    Parameters
    ----------
    prepared, world
        The simulation, and its current state.
    second
        The present second.
    """
    priority = world.priority
    if priority is None:
        return None
    jobs = waiting_jobs(world)
    seen, last = world.seen[jobs], int(priority.last[0])
    waited = np.maximum(0, np.maximum(last, seen["submit"]) - seen["submit"])
    age = priority.age * np.minimum(1.0, waited / priority.max_age)
    fairshare = priority.fairshare * priority.shares.factor[priority.association[jobs]]
    size = seen["processors"] / priority.processors
    if len(priority.nodes):
        known = world.state.planned[jobs] & (last > seen["submit"])
        size = np.where(known, np.maximum(size, priority.whole[jobs]), size)
        nodes = priority.nodes[jobs]
        size = np.maximum(size, nodes) if priority.relative else (size + nodes) / 2
    if priority.relative:
        size = size / np.ceil(seen["estimate"] / 60)
    size = priority.size * np.clip(1 - size if priority.small else size, 0.0, 1.0)
    partition, qos, tres = priority.partition[jobs], priority.qos[jobs], priority.tres[jobs] + priority.beside[jobs]
    total = np.maximum(1.0, np.floor(age + fairshare + (size + partition + qos + tres)))
    first = np.lexsort((np.arange(len(jobs)), -total))
    rows = jobs[first] if prepared.order is None else prepared.order[jobs[first]]
    workload = prepared.workload
    columns = zip(("priority", *FACTORS), (total, age, fairshare, size, partition, qos, tres), strict=True)
    named = {name: one[first] for name, one in columns}
    return Priorities(second, last, workload.job_id[rows], workload.user_id[rows], row=rows, **named)
