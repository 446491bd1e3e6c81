"""Environments and agents on a cluster of nodes, checked against `simulate`; run by test_agents.py as plain Python."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from agent_samples import random_network, saved
from gymnasium.utils.env_checker import check_env

import schedlab as sl
from schedlab.errors import InputError
from schedlab.gym import PolicyAgent, SchedulingEnv, SchedulingVectorEnv, play
from schedlab.gym.sources import METRICS
from schedlab.scheduler.agent_file import read_agent_file
from schedlab.workload.resources import Resources

SITE = sl.Cluster.of_nodes(
    [
        sl.cluster.NodeGroup.of("c[1-2]", cores=8, memory=64),
        sl.cluster.NodeGroup.of("g[1-2]", cores=8, memory=128, gpus={"a100": 4}, weight=10),
    ],
    name="small",
)

PREEMPTING = sl.Cluster.from_dict(
    SITE.to_dict()
    | {
        "partitions": [{"name": "low", "default": True}, {"name": "high", "priority_tier": 2}],
        "preemption": {"by": "partition", "mode": "cancel"},
    }
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


PLAYED = [
    ("next", "fcfs", "fcfs", "fcfs"),
    ("next", "fcfs", "saf", "saf"),
    ("next", "fcfs", "wfp3", "wfp3"),
    ("backfill", "fcfs", "fcfs", "fcfs+easy"),
    ("backfill", "saf", "saf", "saf+easy"),
    ("backfill", "wfp3", "wfp3", "wfp3+easy"),
    ("backfill", "fcfs", "spf", "fcfs+easy:spf"),
    ("inspect", "saf", "fcfs", "saf"),
    ("inspect", "saf+easy", "saf", "saf+easy"),
    ("inspect", "wfp3+easy", "saf", "wfp3+easy"),
    ("policy", "fcfs", "saf", "saf"),
    ("policy", "fcfs", "saf+easy", "saf+easy"),
    ("policy", "fcfs", "wfp3+easy", "wfp3+easy"),
]
"""What is decided, the base policy, what the agent plays, and the scheduler that does the same."""

DECISIONS = ("next", "backfill", "inspect", "policy")


def on_partitions(jobs: sl.Workload, seed: int) -> tuple[sl.Workload, sl.Cluster]:
    """Return jobs in partitions that overlap, and the cluster, with tiers and limits."""
    rng, count = np.random.default_rng(seed), len(jobs)
    document = SITE.to_dict() | {
        "partitions": [
            {"name": "all", "default": True},
            {"name": "g", "nodes": "g[1-2],c2", "priority_tier": int(rng.integers(1, 3)), "qos": "few"},
        ],
        "qos": [{"name": "few", "limits": {"grp_jobs": 3}}, {"name": "normal"}],
        "accounts": [
            {"name": "root", "parent": "", "qos": ["normal"], "default_qos": "normal"},
            {"name": "a", "limits": {"grp_tres": {"cpu": 20}}},
        ],
        "users": [{"user": "1", "account": "a", "default": True}, {"user": "2", "account": "root", "default": True}],
    }
    wanted = [str(rng.choice(["all", "g", "all,g"])) for _ in range(count)]
    resources = jobs.resources
    assert resources is not None
    asked = {name: getattr(resources, name) for name in Resources.__dataclass_fields__} | {"partition": wanted}
    jobs = jobs.replace(resources=Resources.of(count, **asked), user_id=rng.integers(1, 3, count))
    return jobs, sl.Cluster.from_dict(document)


def random_events(seed: int) -> sl.cluster.NodeEvents:
    """Return failures and drains of nodes and GPUs, a maintenance and an advance reservation; all come back."""
    rng = np.random.default_rng(seed)
    events = []
    for name in SITE.nodes:
        for kind in ("down", "drain"):
            second = int(rng.integers(0, 800))
            events.append(sl.cluster.NodeEvent(second, kind, (name,)))
            events.append(sl.cluster.NodeEvent(second + int(rng.integers(1, 300)), "up", (name,)))
    for name, gpu in (("g1", 0), ("g1", 3), ("g2", 1)):
        second = int(rng.integers(0, 800))
        events.append(sl.cluster.NodeEvent(second, "gpu-down", (name,), gpus=(gpu,)))
        events.append(sl.cluster.NodeEvent(second + int(rng.integers(0, 300)), "gpu-up", (name,), gpus=(gpu,)))
    begin, all_nodes = int(rng.integers(100, 700)), tuple(SITE.nodes)
    events.append(sl.cluster.NodeEvent(begin, "maintenance", all_nodes[seed % 3 :], begin + 60, begin - 90))
    events.append(sl.cluster.NodeEvent(begin + 200, "reservation", all_nodes, begin + 320, None, "r", ("0",)))
    return sl.cluster.NodeEvents(tuple(events), "lost" if seed % 3 == 1 else "requeue")


def with_reservations(jobs: sl.Workload, events: sl.cluster.NodeEvents, seed: int) -> sl.Workload:
    """Return jobs of which some ask for the reservation among some events."""
    rng = np.random.default_rng(seed)
    resources = jobs.resources
    assert resources is not None
    asked = {name: getattr(resources, name) for name in Resources.__dataclass_fields__}
    asking = (rng.random(len(jobs)) < 0.1) & (jobs.submit_time < events.reservations[0].end)
    asked["reservation"] = ["r" if one else "" for one in asking]
    return jobs.replace(resources=Resources.of(len(jobs), **asked), user_id=np.zeros(len(jobs), dtype=np.int64))


def check_policies(
    jobs: sl.Workload, cluster: sl.Cluster = SITE, node_events: sl.cluster.NodeEvents | None = None
) -> None:
    """An agent that plays a policy gives that scheduler's schedule, nodes included, whatever it decides."""
    policies, machine = ("saf", "saf+easy", "wfp3+easy"), {"cluster": cluster, "node_events": node_events}
    for decision, base, policy, scheduler in PLAYED:
        env = SchedulingEnv(jobs, decision, window=None, slots=64, base=base, policies=policies, period=90, **machine)
        schedule, expected = play(PolicyAgent(policy), env), sl.simulate(jobs, scheduler, **machine)
        assert schedule.start_time.tolist() == expected.start_time.tolist(), (decision, scheduler)
        if node_events is not None:
            assert schedule.runs.tolist() == expected.runs.tolist(), (decision, scheduler)
        assert schedule.placement is not None
        assert expected.placement is not None
        assert schedule.placement.node.tolist() == expected.placement.node.tolist(), (decision, scheduler)
        if decision != "next":
            assert schedule.backfilled.tolist() == expected.backfilled.tolist(), (decision, scheduler)
        assert (schedule.start_time > jobs.submit_time).any()


def check_random(
    jobs: sl.Workload,
    seed: int,
    decision: str,
    increments: bool,
    node_events: sl.cluster.NodeEvents | None = None,
) -> None:
    """Whatever is done: observations are shares, masks say what fits, rewards add up, no node is exceeded."""
    metric = METRICS[(seed + increments) % len(METRICS)]
    base, order = ("fcfs", "saf+easy", "wfp3+easy")[seed % 3], ("fcfs", "saf")[seed % 2]
    told = {"base": base, "order": order, "reward": metric, "increments": increments, "pause": 7, "period": 60 * seed}
    told |= {"cluster": SITE, "node_events": node_events}
    env = SchedulingEnv(jobs, decision, window=30, slots=8, observation="both", **told)
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    rewards, over = [], False
    while not over:
        assert all(((one >= 0) & (one <= 1)).all() for one in observation.values())
        assert info["action_mask"].any()
        if decision in ("next", "backfill"):
            assert ((observation["jobs"][:, -1] == 1) == info["action_mask"][:-1]).all()
        if decision == "inspect":
            assert observation["jobs"][:, -1].tolist() == [1] + [0] * 7
        observation, reward, over, _, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
        rewards.append(reward)
    schedule = env.schedule()
    expected = schedule.metrics()[metric]
    assert abs(sum(rewards) + expected) <= 1e-9 * max(expected, 1)
    assert increments or not any(rewards[:-1])
    placement = schedule.placement
    assert placement is not None
    start, end = schedule.start_time, schedule.end_time
    if schedule.runs is not None:
        start, end = schedule.runs["start"], schedule.runs["end"]
    row = np.repeat(np.arange(len(start)), np.diff(placement.offsets))
    for moment in start.tolist():
        running = (start[row] <= moment) & (moment < end[row])
        held = np.bincount(placement.node[running], placement.held_cores[running], minlength=4)
        gpus = np.bincount(placement.node[running], placement.held_gpus[running], minlength=4)
        assert (held <= 8).all()
        assert (gpus <= [0, 0, 4, 4]).all()


def check_skips() -> None:
    """By hand: a job is skipped twice, and accepted two pauses later; nothing else happens meanwhile."""
    columns = {"submit_time": [0, 1], "run_time": [5_000, 10], "requested_time": [5_000, 10]}
    jobs = sl.Workload.from_columns(columns | {"requested_processors": [1, 1]}, processors=SITE.processors)
    env = SchedulingEnv(jobs, "inspect", window=None, cluster=SITE, pause=600)
    env.reset(seed=1)
    for action in (0, 1, 1, 0):
        env.step(action)
    assert env.schedule().start_time.tolist() == [0, 1_201]


def check_reservation() -> None:
    """By hand: the head waits for both nodes at 10; a job of 9 s may start before it, one of 10 s may not."""
    cluster = sl.Cluster.of_nodes([sl.cluster.NodeGroup.of("n[1-2]", cores=4)])
    columns = {"submit_time": [0, 0, 1, 1], "run_time": [10, 10, 9, 10], "requested_time": [10, 10, 9, 10]}
    jobs = sl.Workload.from_columns(columns | {"requested_processors": [4, 8, 2, 2]}, processors=8)
    env = SchedulingEnv(jobs, "backfill", window=None, slots=3, cluster=cluster)
    _, info = env.reset(seed=1)
    assert info["action_mask"].tolist() == [False, True, False, True]
    env.step(1)
    assert env.schedule().start_time.tolist() == [0, 10, 1, 20]


def check_failure() -> None:
    """By hand: an agent lets the only node fail under job 0; it waits again, and may be put behind job 1.

    Nothing can start on the failed node, so that there is no decision before it is back at 20.
    """
    cluster = sl.Cluster.of_nodes([sl.cluster.NodeGroup.of("n1", cores=4)])
    columns = {"submit_time": [0, 10], "run_time": [15, 5], "requested_time": [15, 5], "requested_processors": [4, 4]}
    jobs = sl.Workload.from_columns(columns, processors=4)
    happens = (sl.cluster.NodeEvent(5, "down", ("n1",)), sl.cluster.NodeEvent(20, "up", ("n1",)))
    told = {"window": None, "slots": 2, "observation": "both", "cluster": cluster, "reward": "mean_wait"}
    env = SchedulingEnv(jobs, node_events=sl.cluster.NodeEvents(happens), **told)
    env.reset(seed=1)
    _, first, over, _, info = env.step(0)
    assert (info["now"], over, first) == (20, False, -(20 + 10) / 2)
    seen, second, over, _, info = env.step(1)  # visible are job 0, which was submitted again at 5, and job 1
    assert (info["now"], over) == (25, False)
    assert seen["summary"][0] == 1
    _, third, over, _, _ = env.step(0)
    assert over
    schedule = env.schedule()
    assert schedule.start_time.tolist() == [25, 20]
    assert schedule.runs[["job", "start", "end"]].tolist() == [(0, 0, 5), (1, 20, 25), (0, 25, 40)]
    assert first + second + third == -(25 + 10) / 2
    gone = SchedulingEnv(jobs, node_events=sl.cluster.NodeEvents(happens[:1]), **told)
    gone.reset(seed=1)
    with pytest.raises(InputError, match="2 jobs never started, the first is job 1"):
        gone.step(0)


def check_agent(
    jobs: sl.Workload, directory: Path, seed: int, node_events: sl.cluster.NodeEvents | None = None
) -> None:
    """An agent decides the same in `simulate` as in the environment."""
    path = saved(directory, random_network(seed), slots=8)
    agent = read_agent_file(path)
    machine = {"cluster": SITE, "node_events": node_events}
    env = SchedulingEnv(jobs, window=None, slots=8, observation="both", longest=agent.longest, **machine)
    played = play(lambda seen, info: agent.network.choose(seen["jobs"], seen["summary"], info["action_mask"]), env)
    schedule = sl.simulate(jobs, f"@agent:{path}", **machine)
    assert schedule.start_time.tolist() == played.start_time.tolist()
    assert schedule.specification["decisions"] == env.decisions


def check_vector(decision: str) -> None:
    """Environments side by side do what single ones do."""
    told = {"window": 20, "slots": 8, "cluster": SITE}
    vector = SchedulingVectorEnv(jobs_for_nodes(1), 2, decision=decision, **told)
    single = SchedulingEnv(jobs_for_nodes(1), decision, **told)
    shown, infos = vector.reset(seed=4)
    assert (shown[0] == single.reset(seed=4)[0]).all()
    over, rng = False, np.random.default_rng(1)
    while not over:
        actions = [rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in infos["action_mask"]]
        shown, rewards, _, _, infos = vector.step(actions)
        one, reward, over, _, info = single.step(actions[0])
        assert rewards[0] == reward
        assert (shown[0] == one).all()
        assert (infos["action_mask"][0] == info["action_mask"]).all()


def check_sentences(jobs: sl.Workload) -> None:
    """What is not there on nodes is said in one sentence."""
    for arguments, sentence in (
        ({"commit": True}, "commit=True is the environment of SC'20"),
        ({"decision": "all"}, "decision='all' is unknown"),
        ({"processors": 5}, "by processors= or by cluster=, not both"),
        ({"slots": 0}, "slots=0: give a whole number"),
        ({"cluster": PREEMPTING}, "jobs cannot preempt others in environments"),
        ({"cluster": None, "node_events": random_events(1)}, "node_events= needs a cluster of nodes"),
    ):
        with pytest.raises(InputError) as error:
            SchedulingEnv(jobs, **{"cluster": SITE, "window": None} | arguments)
        assert sentence in str(error.value)
    for arguments, policy, sentence in (
        ({}, "saf+easy", "cannot reserve nodes for a blocked job"),
        ({"decision": "policy"}, "saf", "saf is not one of the policies to choose from"),
    ):
        with pytest.raises(InputError, match=sentence):
            play(PolicyAgent(policy), SchedulingEnv(jobs, cluster=SITE, window=None, **arguments))
    with pytest.raises(InputError, match="the score is not a number"):
        SchedulingEnv(jobs, "inspect", cluster=SITE, window=None, base='"log(p - 100000)"').reset(seed=1)


def main(seeds: int) -> None:
    """Check everything, what is random with so many seeds."""
    for decision in DECISIONS:
        check_env(SchedulingEnv(jobs_for_nodes(0), decision, window=20, slots=8, cluster=SITE), skip_render_check=True)
        check_vector(decision)
    check_skips()
    check_reservation()
    check_failure()
    check_sentences(jobs_for_nodes(0))
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(seeds):
            jobs = jobs_for_nodes(seed)
            check_policies(jobs)
            check_policies(*on_partitions(jobs, seed))
            events = random_events(seed)
            asking = with_reservations(jobs, events, seed)
            check_policies(asking, node_events=events)
            assert not sl.simulate(asking, "fcfs", cluster=SITE, node_events=events).runs["done"].all()
            check_policies(*on_partitions(jobs, seed), events)
            check_agent(asking, Path(directory), seed, events)
            for decision in DECISIONS:
                check_random(jobs, seed, decision, increments=True)
                check_random(jobs, seed, decision, increments=False)
                check_random(asking, seed, decision, increments=seed % 2 == 0, node_events=events)
            check_agent(jobs, Path(directory), seed)


if __name__ == "__main__":
    main(int(sys.argv[1]))
