"""Groups of jobs in plain Python: lists of shares, and the statistics defined over them."""

from __future__ import annotations

import math

from schedlab.engine.parts.forecasts.reference_past import PlainPredictor
from schedlab.engine.prepared import Prepared
from schedlab.engine.reference.job import Job
from schedlab.scheduler.predictor import ATTRIBUTES, GroupMean

POWERS = [2 ** (-half / 2) for half in range(41)]


class Grouped(PlainPredictor):
    """The mean share of the request that the runs of a group used; all shares of each group are kept, oldest first.

    A group is named by the values of the attributes that its jobs have in common; that of all jobs has none.
    """

    def __init__(self, prepared: Prepared, choice: GroupMean) -> None:
        super().__init__()
        self.choice = choice
        given = {"request": prepared.request.tolist(), "processors": prepared.jobs["processors"].tolist()}
        columns = [given.get(name) or prepared.column(ATTRIBUTES[name]).tolist() for name in choice.attributes]
        self.names = list(zip(*columns, strict=True))
        self.shares: dict[tuple[int, ...], list[float]] = {}

    def groups(self, job: Job) -> list[tuple[int, ...]]:
        """Return the groups of a job, that of all jobs first."""
        name = self.names[job.number]
        return [name[:length] for length in range(len(name) + 1)]

    def guess(self, job: Job, now: int, running: list[Job]) -> int:
        """Return the request times the expected share."""
        return int(job.request * self.mean(job, geometric=self.choice.mean == "geometric"))

    def mean(self, job: Job, *, geometric: bool) -> float:
        """Return the mean share."""
        expected = self.drawn(job, geometric=geometric)
        return math.exp(expected) if geometric else expected

    def drawn(self, job: Job, *, geometric: bool, levels: int | None = None) -> float:
        """Return the mean share or its logarithm, each group's shrunk towards that of the wider one.

        Only the `levels` widest groups are used; all if not given.
        """
        expected = 0.0 if geometric else 1.0
        for shares in filter(None, map(self.shares.get, self.groups(job)[:levels])):
            count = total = 0.0
            for share in shares:
                count = count * self.choice.decay + 1
                total = total * self.choice.decay + (math.log(share) if geometric else share)
            expected = (total + self.choice.shrink * expected) / (count + self.choice.shrink)
        return expected

    def chances(self, job: Job) -> dict[float, float]:
        """Return the expected shares, rounded up to powers of the root of 2, with their probabilities.

        Sums are taken run by run, so that what is equal has equal scores, to the last bit.
        """
        expected = {1.0: 1.0}
        for shares in filter(None, map(self.shares.get, self.groups(job))):
            counts, whole = dict.fromkeys(expected, 0.0), 0.0
            for share in shares:
                rounded = max(value for value in POWERS if value < share * 2**0.5 * (1 - 1e-9) or value == POWERS[-1])
                counts = {one: count * self.choice.decay for one, count in counts.items()}
                counts[rounded] = counts.get(rounded, 0.0) + 1
                whole = whole * self.choice.decay + 1
            shrink = self.choice.shrink
            expected = {
                share: (count + shrink * expected.get(share, 0.0)) / (whole + shrink) for share, count in counts.items()
            }
        return expected

    def statistics(self, job: Job) -> list[float] | None:
        """Return the statistics of the distribution of run times, from their definitions."""
        run_times = [(max(1.0, job.request * share), chance) for share, chance in sorted(self.chances(job).items())]
        means = [min(max(1.0, job.request * self.mean(job, geometric=which)), job.request) for which in (False, True)]
        index = min(
            sum(chance * min(run, stop) for run, chance in run_times)
            / sum(chance / max(run, 10) for run, chance in run_times if run <= stop)
            for stop, chance in run_times
            if chance > 0
        )
        places = [
            next(stop for stop, _ in run_times if sum(c for run, c in run_times if run <= stop) > level - 1e-9)
            for level in (0.1, 0.25, 0.5, 0.75, 0.9)
        ]
        return [*means, sum(chance / max(run, 10) for run, chance in run_times), index, *places]

    def learn(self, job: Job, now: int) -> None:
        """Record the share."""
        for group in self.groups(job):
            self.shares.setdefault(group, []).append(max(now - job.start, 1) / job.request)
