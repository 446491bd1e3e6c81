"""Episodes side by side: what environments of every kind are made of, without Gymnasium."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.engine.jobs.clock import NOW
from schedlab.engine.prescored.simulation import formulas_of
from schedlab.engine.queue.function_order import blame
from schedlab.errors import InputError
from schedlab.gym.decisions import formula_of, known_policy, rules_for
from schedlab.gym.moves import Policies
from schedlab.gym.pool import BLAMED, JOBS, OVER, Pool, new_pool, size_of
from schedlab.gym.side_by_side import SideBySide
from schedlab.gym.sources import Episode, Model, Source, as_numbers
from schedlab.gym.stepping import action_of, begin_episode, play_out, step_episodes
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.backfilling import Easy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload


@explained
class Episodes(SideBySide):
    """Episodes side by side, each at its own decision.

    Parameters
    ----------
    number
        How many.
    workload, processors, window, load, reward, longest
        Where they come from, see `schedlab.gym.sources.Source`.
    **decided
        What is decided, see `schedlab.gym.decisions.rules_for`.

    Raises
    ------
    InputError
        If an argument makes no sense, or the jobs cannot be simulated.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5],
    ...                                   requested_processors=[3, 4, 1]), processors=4)
    >>> episodes = Episodes(1, jobs, window=None, slots=4)
    >>> drawn = episodes.begin(0, np.random.default_rng(1))
    >>> episodes.pool.mask[0].tolist()
    [True, False, False, False, True]
    """

    def __init__(
        self,
        number: int,
        workload: Workload | Sequence[Workload] | Model,
        *,
        processors: int | None = None,
        window: int | None = 256,
        load: float | tuple[float, float] = 1.0,
        reward: str = "mean_bounded_slowdown",
        longest: int | None = None,
        **decided: Any,
    ) -> None:
        self.texts, rules = rules_for(0, **decided)
        source = Source(workload, processors=processors, window=window, load=load, metric=reward, longest=longest)
        super().__init__(number, source)
        self.rules = rules._replace(processors=source.processors)
        self._make()

    def _make(self) -> None:
        """Make room for the episodes, with the policies that are known by now."""
        schedulers = [Scheduler.parse(text) for text in self.texts]
        programs = [formula_of(text) for text in self.texts]
        formulas = formulas_of(programs)
        self.policies = Policies(
            formulas,
            np.array([isinstance(one.backfill, Easy) for one in schedulers]),
            np.array([one.uses_waiting_time for one in programs]),
        )
        self.pool: Pool = new_pool(
            self.number,
            self.source.most,
            policies=len(programs),
            slots=self.rules.slots,
            actions=self.rules.actions,
            depth=formulas.depth,
            processors=self.rules.processors,
        )
        self._numbers = as_numbers(self.pool.jobs)
        self.pool.progress[:, OVER] = 1  # none has begun
        self._drawn = [None] * self.number

    def know(self, policy: str) -> int:
        """Return the number by which `play` knows a policy; running episodes are abandoned if it is a new one."""
        text = known_policy(policy, self.texts, self.rules)
        if text not in self.texts:
            self.texts.append(text)
            self._make()
        return self.texts.index(text)

    @property
    def size(self) -> int:
        """Bytes that the episodes take."""
        return size_of(self.pool)

    def begin_with(self, e: int, episode: Episode, scores: NDArray[np.float64] | None = None) -> None:
        """Bring an episode to its first decision; `scores`, if given, are those of its jobs under all policies."""
        pool, table, part = self.pool, episode.table, slice(episode.low, episode.high)
        count = episode.high - episode.low
        self._numbers[e, :count] = table.numbers[part]
        if episode.load != 1:
            pool.jobs["submit"][e, :count] = episode.submit
        pool.feature[e, :count] = table.feature[part]
        pool.growth[e, :count] = table.growth[part]
        pool.progress[e, JOBS] = count
        if scores is not None:
            pool.score[e, :, :count] = scores
        begin_episode(pool, self.policies, self.rules, e, scores is not None)
        self._drawn[e] = episode
        if pool.progress[e, BLAMED] >= 0:
            self._blame(e)

    def step(self, actions: NDArray[np.int64], low: int = 0, high: int | None = None, *, shown: bool = True) -> None:
        """Take an action in each of some episodes; parameters as for `schedlab.gym.stepping.step_episodes`."""
        high = self.number if high is None else high
        step_episodes(self.pool, self.policies, self.rules, actions, low, high, shown)

    def check(self) -> None:
        """Raise InputError if the score of some job is not a number."""
        wrong = self.pool.progress[:, BLAMED] >= 0
        if wrong.any():
            self._blame(int(np.argmax(wrong)))

    def _blame(self, e: int) -> None:
        job, jobs = int(self.pool.progress[e, BLAMED]), self.pool.jobs[e]
        submit, now = jobs["submit"][[job]], int(self.pool.clock[e, NOW])
        for policy in (Scheduler.parse(text).policy for text in self.texts):
            one = jobs[[job]]
            score = policy.scores(
                one["estimate"], one["processors"], submit - jobs["submit"][0], now - submit, one["estimate"]
            )
            if np.isnan(score[0]):
                blame(policy, jobs, jobs["estimate"], job, now)

    def play(self, e: int, policy: int) -> int:
        """Return the action with which an agent that plays a policy answers, see `schedlab.gym.stepping.action_of`."""
        return int(action_of(self.pool, self.policies, self.rules, e, policy))

    def play_out(self, e: int, policy: int) -> None:
        """Let an agent that plays a policy take an episode to its end."""
        play_out(self.pool, self.policies, self.rules, e, policy)
        self.check()

    def schedule(self, e: int) -> Schedule:
        """Return the schedule of an episode that is over.

        Raises
        ------
        InputError
            If it is not over.
        """
        episode, pool = self.drawn(e), self.pool
        if not pool.progress[e, OVER]:
            raise InputError("no schedule yet: jobs are still waiting, the episode is not over")
        workload, count = episode.workload, int(pool.progress[e, JOBS])
        start, jobs = pool.start[e, :count].copy(), pool.jobs[e, :count]
        duration = jobs["duration"].copy()
        return Schedule(
            workload=workload,
            start_time=start,
            end_time=start + duration,
            backfilled=pool.backfilled[e, :count].copy(),
            killed=duration < workload.run_time,
            predicted_run_time=jobs["estimate"].copy(),
            corrections=np.zeros(count, dtype=np.int64),
            scheduler="an agent",
            processors=self.rules.processors,
        )
