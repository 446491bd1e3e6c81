"""Many environments in one: simulations side by side, stepped by compiled code in threads."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.gym.environment import InvalidActionError, Observation, ResetNeededError, observation_space
from schedlab.gym.episodes import Episodes
from schedlab.gym.machines import episodes_for
from schedlab.gym.node_episodes import NodeEpisodes
from schedlab.gym.pool import WRONG
from schedlab.gym.sources import Model
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload


@explained
class SchedulingVectorEnv(VectorEnv[Any, Any, Any]):
    """The environments of `SchedulingEnv` side by side, with the same results.

    Parameters
    ----------
    workload
        Where episodes come from, as for `SchedulingEnv`.
    num_envs
        How many environments.
    observation
        As for `SchedulingEnv`.
    autoreset_mode
        What follows the end of an episode: the next step begins another one (NEXT_STEP), the same step does, with the
        last observation in `infos["final_obs"]` (SAME_STEP), or nothing does until `reset` with
        `options={"reset_mask": ...}` (DISABLED).
    threads
        How many work side by side; their kernels do not hold the interpreter's lock. On a cluster of nodes, Python
        steps the environments, and more threads gain little.
    copy
        Whether observations and masks are copies; without, they are the arrays that the next step overwrites.
    **arguments
        All other arguments of `SchedulingEnv`, but for `masked_action` and `render_mode`; a masked action is replaced,
        see `infos["action_replaced"]`.

    Raises
    ------
    InputError
        As `SchedulingEnv`.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5],
    ...                                   requested_processors=[3, 4, 1]), processors=4)
    >>> envs = SchedulingVectorEnv(jobs, 2, window=None, slots=3)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations.shape, infos["action_mask"].shape
    ((2, 3, 8), (2, 4))
    """

    def __init__(
        self,
        workload: Workload | Sequence[Workload] | Model,
        num_envs: int = 1,
        *,
        observation: Observation = "jobs",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        copy: bool = True,
        **arguments: Any,
    ) -> None:
        if not isinstance(threads, int) or threads < 1:
            raise InputError(f"threads={threads!r}: must be a number of threads, at least 1")
        self.episodes: Episodes | NodeEpisodes = episodes_for(num_envs, workload, **arguments)
        self.num_envs = num_envs
        self.observed: Observation = observation
        self.single_observation_space = observation_space(self.episodes, observation)
        self.single_action_space = spaces.Discrete(self.episodes.rules.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode}
        self._copies = copy
        self._workers = ThreadPoolExecutor(threads) if threads > 1 else None
        bounds = np.linspace(0, num_envs, threads + 1).astype(int).tolist()
        self._parts = [(low, high) for low, high in itertools.pairwise(bounds) if low < high]
        self._generators: list[np.random.Generator] = []
        self._everybody = np.ones(num_envs, dtype=np.bool_)
        self._nobody = np.zeros(num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each environment, or in those of `options["reset_mask"]`.

        Parameters
        ----------
        seed
            Of environment 0, environment i has seed + i; or one for each. None goes on with the generators at hand.
        options
            As for `SchedulingEnv.reset`; `reset_mask` (bool, one for each environment) says which are reset.

        Raises
        ------
        InputError
            As `SchedulingEnv.reset`.
        """
        told = dict(options or {})
        chosen = np.asarray(told.pop("reset_mask", self._everybody))
        if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_ or not chosen.any():
            raise InputError(f"reset_mask needs {self.num_envs} truth values, at least one of them true")
        self._seed(seed)
        for e in np.flatnonzero(chosen).tolist():
            self.episodes.begin(e, self._generators[e], told)
        return self._observations(), self._infos()

    def _seed(self, seed: int | Sequence[int | None] | None) -> None:
        if seed is None and self._generators:
            return
        if seed is None or isinstance(seed, int | np.integer):
            first = np.random.SeedSequence().generate_state(1)[0] if seed is None else seed
            seed = [int(first) + e for e in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise InputError(
                f"{len(seed)} seeds for {self.num_envs} environments: give one per environment, or a single one"
            )
        for e, one in enumerate(seed):
            if one is not None or len(self._generators) <= e:
                self._generators[e : e + 1] = [np_random(one)[0]]

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Any]:
        """Take an action in each environment; what is given for one whose episode is over does not matter.

        Raises
        ------
        InputError
            If there are no episodes, or if an action is out of range.
        """
        if not self._generators:
            raise ResetNeededError("no episode has begun: call reset() before step()")
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise InvalidActionError(f"actions must be {self.num_envs} whole numbers, one per environment")
        before = self.episodes.over
        wrong = (chosen < 0) | (chosen >= self.episodes.rules.actions)
        if wrong.any() and (wrong & ~before).any():
            e = int(np.argmax(wrong & ~before))
            last = self.episodes.rules.actions - 1
            raise InvalidActionError(
                f"action {chosen[e]} of environment {e} is out of range: actions go from 0 to {last}"
            )
        self._step(np.ascontiguousarray(chosen, dtype=np.int64))
        over = self.episodes.over
        infos: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            if over.any():
                infos = self._last_of(over)
                self._begin(over)
        elif self.autoreset_mode == AutoresetMode.NEXT_STEP and before.any():
            self._begin(before)
            over = over & ~before
        rewards = self.episodes.pool.reward.copy()
        if infos:
            rewards[over] = infos.pop("reward")
        return self._observations(), rewards, over, self._nobody.copy(), self._infos() | infos

    def _step(self, actions: NDArray[np.int64]) -> None:
        if self._workers is None:
            self.episodes.step(actions)
        else:
            tasks = [self._workers.submit(self.episodes.step, actions, low, high) for low, high in self._parts]
            for task in tasks:
                task.result()
        self.episodes.check()

    def _begin(self, which: NDArray[np.bool_]) -> None:
        for e in np.flatnonzero(which).tolist():
            self.episodes.begin(e, self._generators[e])

    def _last_of(self, over: NDArray[np.bool_]) -> dict[str, Any]:
        """Return what is told of episodes that are over, before others take their places."""
        shown: NDArray[Any] = np.full(self.num_envs, None, dtype=object)
        pool = self.episodes.pool
        for e in np.flatnonzero(over).tolist():
            one = {"jobs": pool.shown[e].copy(), "summary": pool.summary[e].copy()}
            shown[e] = one if self.observed == "both" else one[self.observed]
        final = {name: value.copy() for name, value in self._infos().items()}
        final = {name: value for name, value in final.items() if not name.startswith("_")}
        return {
            "final_obs": shown,
            "_final_obs": over.copy(),
            "final_info": final | {f"_{name}": over.copy() for name in final},
            "_final_info": over.copy(),
            "reward": pool.reward[over].copy(),
        }

    def schedule(self, environment: int) -> Schedule:
        """Return the schedule of an episode that is over, and has not been followed by another one."""
        return self.episodes.schedule(environment)

    def close_extras(self, **_: Any) -> None:
        """End the threads."""
        if self._workers is not None:
            self._workers.shutdown()

    def _observations(self) -> Any:
        pool = self.episodes.pool
        whole = {"jobs": pool.shown, "summary": pool.summary}
        if self._copies:
            whole = {name: array.copy() for name, array in whole.items() if self.observed in (name, "both")}
        return whole if self.observed == "both" else whole[self.observed]

    def _infos(self) -> dict[str, Any]:
        pool = self.episodes.pool
        mask = pool.mask.copy() if self._copies else pool.mask
        return {
            "action_mask": mask,
            "_action_mask": self._everybody,
            "action_replaced": pool.progress[:, WRONG] == 1,
            "_action_replaced": self._everybody,
            "now": pool.clock[:, 0].copy(),
            "_now": self._everybody,
        }
