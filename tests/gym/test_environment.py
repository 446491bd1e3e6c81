"""The environments of Gymnasium: its conventions, its checker, and vectors that are the same as single ones."""

from __future__ import annotations

import numpy as np
import pytest
from gym_samples import model_jobs, random_jobs

gymnasium = pytest.importorskip("gymnasium", reason='needs Gymnasium: pip install ".[gym]"')

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import schedlab as sl  # noqa: E402
from schedlab.errors import InputError  # noqa: E402
from schedlab.gym import (  # noqa: E402
    PolicyAgent,
    Protocol,
    RandomAgent,
    SchedulingEnv,
    SchedulingVectorEnv,
    evaluate,
    play,
)
from schedlab.gym.registration import IDS  # noqa: E402


@pytest.mark.parametrize("name", IDS)
def test_registered_environments_pass_the_checker_of_gymnasium(name):
    env = gymnasium.make(name, window=40)
    check_env(env.unwrapped)
    again = gymnasium.make(name, window=40)
    assert (env.reset(seed=3)[0] == again.reset(seed=3)[0]).all()


@pytest.mark.parametrize("decision", ["next", "backfill", "inspect", "policy", "commit"])
@pytest.mark.parametrize("observation", ["jobs", "summary", "both"])
def test_every_combination_passes_the_checker(decision, observation):
    told = {"decision": "next", "commit": True} if decision == "commit" else {"decision": decision}
    env = SchedulingEnv(model_jobs(1), window=60, observation=observation, slots=16, load=(0.8, 1.5), **told)
    check_env(env, skip_render_check=True)
    schedule = play(RandomAgent(np.random.default_rng(1)), env, seed=2)
    assert len(schedule) == 60


def test_an_agent_that_plays_saf_gives_the_schedule_of_saf():
    jobs = model_jobs(2)
    env = SchedulingEnv(jobs, window=None, slots=150)
    assert play(PolicyAgent("saf"), env).start_time.tolist() == sl.simulate(jobs, "saf").start_time.tolist()


def test_an_agent_that_plays_a_policy_chooses_it_where_policies_are_chosen():
    jobs = model_jobs(2)
    env = SchedulingEnv(jobs, "policy", window=None, policies=("fcfs", "saf+easy"), period=600)
    assert play(PolicyAgent("saf+easy"), env).start_time.tolist() == sl.simulate(jobs, "saf+easy").start_time.tolist()
    with pytest.raises(InputError, match="saf is not one of the policies to choose from: fcfs"):
        play(PolicyAgent("saf"), env)


def test_the_mask_comes_with_info_and_with_action_masks():
    env = SchedulingEnv(model_jobs(1), window=60)
    _, info = env.reset(seed=1)
    assert info["action_mask"].tolist() == env.action_masks().tolist()
    assert info["action_mask"].shape == (env.action_space.n,)  # type: ignore[attr-defined]
    masked = int(np.argmin(info["action_mask"]))
    _, _, _, _, info = env.step(masked)
    assert info["action_replaced"]
    _, _, _, _, info = env.step(int(np.argmax(info["action_mask"])))
    assert not info["action_replaced"]


def test_bad_actions_are_errors_of_gymnasium_and_of_schedlab():
    env = SchedulingEnv(model_jobs(1), window=60, slots=4, masked_action="error")
    for error in (gymnasium.error.ResetNeeded, InputError):
        with pytest.raises(error, match=r"call reset\(\) before step\(\)"):
            env.step(0)
    _, info = env.reset(seed=1)
    for action, sentence in (
        (5, "action 5 is out of range: actions go from 0 to 4"),
        (-1, "action -1 is out of range"),
        (0.5, "action 0.5 is not a whole number"),
        (int(np.argmin(info["action_mask"])), "is masked: possible are"),
    ):
        for error in (gymnasium.error.InvalidAction, InputError):
            with pytest.raises(error, match=sentence):
                env.step(action)
    with pytest.raises(InputError, match="reset has no option 'begin'"):
        env.reset(options={"begin": 3})
    with pytest.raises(InputError, match="no window begins at job 91"):
        env.reset(options={"start": 91})
    with pytest.raises(InputError, match="observation='pixels' is unknown"):
        SchedulingEnv(model_jobs(1), window=60, observation="pixels")
    with pytest.raises(InputError, match="the episode is not over"):
        env.schedule()


def test_the_end_is_the_end():
    env = SchedulingEnv(random_jobs(1), window=None, render_mode="ansi")
    play(RandomAgent(np.random.default_rng(1)), env, seed=1)
    assert "60 of 60 have started" in env.render()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_vector_is_the_same_as_single_environments(threads):
    jobs, number = model_jobs(3), 3
    told = {"window": 40, "slots": 16, "load": (0.9, 1.4)}
    vector = SchedulingVectorEnv(jobs, number, threads=threads, **told)
    singles = [SchedulingEnv(jobs, **told) for _ in range(number)]
    observations, infos = vector.reset(seed=7)
    assert vector.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    alone = [env.reset(seed=7 + e) for e, env in enumerate(singles)]
    over = [False] * number
    rng = np.random.default_rng(1)
    for _ in range(150):
        for e in range(number):
            assert (observations[e] == alone[e][0]).all()
            assert (infos["action_mask"][e] == alone[e][-1]["action_mask"]).all()
        actions = [int(rng.choice([*np.flatnonzero(mask), 16])) for mask in infos["action_mask"]]
        observations, rewards, ends, cut, infos = vector.step(np.array(actions))
        for e, env in enumerate(singles):
            if over[e]:
                observed, info = env.reset()
                alone[e], expected = (observed, info), (0.0, False)
            else:
                observed, reward, end, _, info = env.step(actions[e])
                alone[e], expected = (observed, info), (reward, end)
            assert (rewards[e], bool(ends[e])) == expected
            over[e] = expected[1]
        assert not cut.any()
    vector.close()


def test_same_step_hands_over_the_last_observation_and_disabled_waits_for_reset():
    jobs = random_jobs(4)
    same = SchedulingVectorEnv(jobs, 2, window=5, slots=4, autoreset_mode="SameStep", observation="both")
    _, infos = same.reset(seed=1)
    while "final_obs" not in infos:
        _, rewards, over, _, infos = same.step(infos["action_mask"].argmax(axis=1))
    e = int(np.argmax(over))
    assert infos["_final_obs"].tolist() == over.tolist()
    assert not infos["final_obs"][e]["jobs"].any()
    assert infos["final_info"]["now"].shape == (2,)
    assert infos["action_mask"][e].any()
    assert rewards.shape == (2,)
    off = SchedulingVectorEnv(jobs, 2, window=5, slots=4, autoreset_mode=AutoresetMode.DISABLED)
    _, infos = off.reset(seed=1)
    over = np.zeros(2, dtype=bool)
    while not over.all():
        _, _, over, _, infos = off.step(infos["action_mask"].argmax(axis=1))
    assert len(off.schedule(0)) == 5
    _, infos = off.reset(options={"reset_mask": np.array([True, False])})
    assert (infos["action_mask"].any(axis=1)).tolist() == [True, False]


def test_bad_input_to_a_vector_is_one_sentence():
    vector = SchedulingVectorEnv(random_jobs(4), 2, window=5, slots=4)
    with pytest.raises(gymnasium.error.ResetNeeded):
        vector.step([0, 0])
    vector.reset(seed=[1, 2])
    with pytest.raises(InputError, match="action 9 of environment 1 is out of range: actions go from 0 to 4"):
        vector.step([0, 9])
    with pytest.raises(InputError, match="actions must be 2 whole numbers"):
        vector.step([0.5, 1])
    with pytest.raises(InputError, match="3 seeds for 2 environments"):
        vector.reset(seed=[1, 2, 3])
    with pytest.raises(InputError, match="reset_mask needs 2 truth values"):
        vector.reset(options={"reset_mask": np.zeros(2, dtype=bool)})
    with pytest.raises(InputError, match="threads=0"):
        SchedulingVectorEnv(random_jobs(4), 2, threads=0)


def test_agents_and_schedulers_are_judged_on_the_same_windows():
    jobs = model_jobs(5, jobs=300)
    protocol = Protocol.drawn(jobs, 4, window=80, first=100, rng=np.random.default_rng(1), slots=80)
    judged = evaluate({"agent": PolicyAgent("saf"), "scheduler": "saf", "EASY": "fcfs+easy"}, protocol)
    values = judged.values["mean_bounded_slowdown"]
    assert values[:, 0].tolist() == pytest.approx(values[:, 1].tolist())
    assert min(protocol.starts) >= 100
    assert judged.decisions[0] > 0 == judged.decisions[1]
    assert len(judged.to_frame()) == 4 * 3 * 2
    assert "EASY" in str(judged)
    with pytest.raises(InputError, match="no window of 80 jobs begins at row 250"):
        Protocol.drawn(jobs, 4, window=80, first=250, rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="is not bound to an environment"):
        PolicyAgent("saf")(None, {})
