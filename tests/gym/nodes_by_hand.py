"""Environments and agents on a cluster of nodes, checked against `simulate`; run by test_agents.py as plain Python."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from agent_samples import random_network, saved
from gymnasium.utils.env_checker import check_env

import schedlab as sl
from schedlab.errors import InputError
from schedlab.gym import PolicyAgent, RandomAgent, SchedulingEnv, SchedulingVectorEnv, play
from schedlab.scheduler.agent_file import read_agent_file
from schedlab.workload.resources import Resources

SITE = sl.Cluster.of_nodes(
    [
        sl.NodeGroup.of("c[1-2]", cores=8, memory=64),
        sl.NodeGroup.of("g[1-2]", cores=8, memory=128, gpus={"a100": 4}, weight=10),
    ],
    name="small",
)


def jobs_for_nodes(seed: int, count: int = 50) -> sl.Workload:
    """Return jobs of cores, memory and GPUs, more than the nodes can run at once."""
    rng = np.random.default_rng(seed)
    gpus = np.where(rng.random(count) < 0.5, rng.choice([1, 2, 4], count), 0)
    tasks = np.where(gpus > 0, gpus, rng.choice([1, 4, 8], count))
    run = rng.integers(1, 200, count)
    columns = {"submit_time": np.sort(rng.integers(0, 800, count)), "run_time": run}
    columns |= {"requested_time": run * rng.choice([1, 2], count), "requested_processors": tasks}
    jobs = sl.Workload.from_columns(columns, processors=SITE.processors, name="jobs")
    memory = rng.choice([1, 4, 8], count)
    return jobs.replace(
        resources=Resources.of(count, tasks=tasks, nodes=np.where(gpus > 0, 1, 0), gpus=gpus, memory_per_core=memory)
    )


def check_policies(jobs: sl.Workload) -> None:
    """An agent that plays a policy gives that scheduler's schedule, nodes included."""
    env = SchedulingEnv(jobs, window=None, slots=64, cluster=SITE)
    for policy in ("fcfs", "saf", "wfp3"):
        schedule, expected = play(PolicyAgent(policy), env), sl.simulate(jobs, policy, cluster=SITE)
        assert schedule.start_time.tolist() == expected.start_time.tolist(), policy
        assert schedule.placement is not None
        assert expected.placement is not None
        assert schedule.placement.node.tolist() == expected.placement.node.tolist(), policy
        assert (schedule.start_time > jobs.submit_time).any()


def check_random(jobs: sl.Workload, seed: int) -> None:
    """Whatever is done: observations are shares, masks say what fits, rewards add up, no node is exceeded."""
    for increments in (True, False):
        env = SchedulingEnv(jobs, window=30, slots=8, cluster=SITE, observation="both", increments=increments)
        rng = np.random.default_rng(seed)
        observation, info = env.reset(seed=seed)
        rewards, over = [], False
        while not over:
            assert all(((one >= 0) & (one <= 1)).all() for one in observation.values())
            assert info["action_mask"].any()
            assert (observation["jobs"][~info["action_mask"][:-1], -1] == 0).all()
            observation, reward, over, _, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
            rewards.append(reward)
        schedule = env.schedule()
        assert abs(sum(rewards) + schedule.metrics()["mean_bounded_slowdown"]) < 1e-9
        assert increments or not any(rewards[:-1])
        placement = schedule.placement
        assert placement is not None
        row = np.repeat(np.arange(30), np.diff(placement.offsets))
        for moment in schedule.start_time.tolist():
            running = (schedule.start_time[row] <= moment) & (moment < schedule.end_time[row])
            held = np.bincount(placement.node[running], placement.held_cores[running], minlength=4)
            gpus = np.bincount(placement.node[running], placement.held_gpus[running], minlength=4)
            assert (held <= 8).all()
            assert (gpus <= [0, 0, 4, 4]).all()


def check_agent(jobs: sl.Workload, directory: Path, seed: int) -> None:
    """An agent decides the same in `simulate` as in the environment."""
    path = saved(directory, random_network(seed), slots=8)
    agent = read_agent_file(path)
    env = SchedulingEnv(jobs, window=None, slots=8, cluster=SITE, observation="both", longest=agent.longest)
    played = play(lambda seen, info: agent.network.choose(seen["jobs"], seen["summary"], info["action_mask"]), env)
    schedule = sl.simulate(jobs, f"@agent:{path}", cluster=SITE)
    assert schedule.start_time.tolist() == played.start_time.tolist()
    assert schedule.specification["decisions"] == env.decisions


def check_sentences(jobs: sl.Workload) -> None:
    """What is not there on nodes is said in one sentence."""
    for arguments, sentence in (
        ({"decision": "inspect"}, "decision='inspect' is for a number of processors"),
        ({"processors": 5}, "give the machine once"),
        ({"slots": 0}, "slots=0: give a whole number"),
    ):
        with pytest.raises(InputError) as error:
            SchedulingEnv(jobs, cluster=SITE, window=None, **arguments)
        assert sentence in str(error.value)
    simulation = sl.Simulation(jobs, None, cluster=SITE)
    for call in (lambda: simulation.save("x"), lambda: simulation.submit(jobs[-1:])):
        with pytest.raises(InputError):
            call()


def main() -> None:
    """Check everything."""
    check_env(SchedulingEnv(jobs_for_nodes(0), window=20, slots=8, cluster=SITE), skip_render_check=True)
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(3):
            jobs = jobs_for_nodes(seed)
            check_policies(jobs)
            check_random(jobs, seed)
            check_agent(jobs, Path(directory), seed)
    check_sentences(jobs)
    vector = SchedulingVectorEnv(jobs_for_nodes(1), 2, window=20, slots=8, cluster=SITE)
    single = SchedulingEnv(jobs_for_nodes(1), window=20, slots=8, cluster=SITE)
    shown, info = vector.reset(seed=4)
    assert (shown[0] == single.reset(seed=4)[0]).all()
    shown, rewards, _, _, _ = vector.step(info["action_mask"].argmax(axis=1))
    one, reward, *_ = single.step(int(info["action_mask"][0].argmax()))
    assert rewards[0] == reward
    assert (shown[0] == one).all()
    play(RandomAgent(np.random.default_rng(1)), single, seed=1)


if __name__ == "__main__":
    main()
