"""Trained agents in environments and in simulations: the same decisions; one that plays a policy is that policy."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from agent_samples import linear_network, random_network, saved
from gym_samples import model_jobs, random_jobs

import schedlab as sl
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.gym.episodes import Episodes
from schedlab.gym.rollouts import advantages, joined, roll
from schedlab.scheduler.agent_file import AgentFile, read_agent_file
from schedlab.scheduler.agent_network import JOB_INPUTS, Network
from schedlab.workload.dependencies import Dependencies


def played(jobs, network, slots=16, longest=5_000):
    """Return the schedule of an agent in an environment."""
    episodes = Episodes(1, jobs, window=None, slots=slots, longest=longest)
    episodes.begin(0, np.random.default_rng(0))
    roll(episodes, network, None)
    return episodes.schedule(0)


@pytest.mark.parametrize("seed", range(4))
def test_an_agent_starts_the_same_jobs_in_simulate_as_in_the_environment(seed, tmp_path):
    network = random_network(seed)
    scheduler = f"@agent:{saved(tmp_path, network)}"
    for jobs in (model_jobs(seed), random_jobs(seed), random_jobs(seed, enforced=False)):
        expected = played(jobs, network)
        schedule = simulate(jobs, scheduler)
        assert schedule.start_time.tolist() == expected.start_time.tolist()
        assert schedule.backfilled.tolist() == expected.backfilled.tolist()
        assert schedule.specification["decisions"] > 0


def test_an_agent_goes_on_after_every_step_and_fork(tmp_path):
    jobs, scheduler = model_jobs(3), f"@agent:{saved(tmp_path, random_network(3))}"
    expected = simulate(jobs, scheduler).start_time.tolist()
    simulation = Simulation(jobs, scheduler)
    simulation.run(int(jobs.submit_time[70]))
    other = simulation.fork()
    for one in (simulation, other):
        while one.next_decision():
            pass
        assert one.schedule().start_time.tolist() == expected


def test_an_agent_that_prefers_the_first_and_never_waits_fills_all_gaps(tmp_path):
    """By hand: job 1 does not fit beside job 0; jobs 2 and 3 do, one after the other, and job 1 has to wait for 3."""
    columns = {"submit_time": [0, 1, 2, 3], "run_time": [10, 10, 6, 9], "requested_time": [10, 10, 6, 9]}
    jobs = sl.Workload.from_columns(columns | {"requested_processors": [3, 4, 1, 1]}, processors=4)
    path = saved(tmp_path, linear_network(is_waiting=-10, wait=1))
    assert simulate(jobs, f"@agent:{path}").start_time.tolist() == [0, 17, 2, 8]
    assert simulate(jobs, f"@agent:{path},window=1").start_time.tolist() == [0, 10, 20, 20]
    assert simulate(jobs, f"@agent:{path},starvation=4").start_time.tolist() == [0, 10, 2, 20]
    assert simulate(jobs, f"@agent:{path}", in_order=4).start_time.tolist() == [0, 10, 20, 20]


def test_an_agent_does_not_wait_for_a_job_that_waits_for_one_in_the_queue(tmp_path):
    """By hand: it waits while a job runs or is to come; job 1, of second 5, cannot enter before job 0 has ended."""
    columns = {"submit_time": [0, 5], "run_time": [10, 10], "requested_time": [10, 10], "requested_processors": [1, 1]}
    jobs = sl.Workload.from_columns(columns, processors=4)
    path = saved(tmp_path, linear_network(is_waiting=10))
    assert simulate(jobs, f"@agent:{path}").start_time.tolist() == [5, 15]
    after = jobs.replace(dependencies=Dependencies.from_pairs([1], [0], [0], jobs=2))
    assert simulate(after, f"@agent:{path}").start_time.tolist() == [0, 10]


def test_a_changed_file_is_another_scheduler(tmp_path):
    jobs = model_jobs(3)
    path = saved(tmp_path, linear_network(is_waiting=-10, wait=1))
    one = simulate(jobs, f"@agent:{path}")
    saved(tmp_path, linear_network(is_waiting=-10, request=-1))
    other = simulate(jobs, f"@agent:{path}")
    assert one.scheduler != other.scheduler
    assert one.start_time.tolist() != other.start_time.tolist()
    with pytest.raises(InputError, match="it now holds the agent"):
        simulate(jobs, one.scheduler)


def test_an_agent_that_sees_jobs_alone_is_a_scheduler_and_one_that_commits_itself_is_not(tmp_path):
    weights = np.zeros((len(JOB_INPUTS), 1), np.float32)
    weights[JOB_INPUTS.index("request")] = -1
    network = Network((weights,), (np.zeros(1, np.float32),), JOB_INPUTS)
    path = saved(tmp_path, network)
    jobs = model_jobs(2, jobs=120)
    found = simulate(jobs, f"@agent:{path}")
    assert found.start_time.tolist() == played(jobs, network).start_time.tolist()
    AgentFile(network, 5_000, 16, decision="commit").save(path)
    assert read_agent_file(path).decision == "commit"
    with pytest.raises(InputError, match="commits to jobs as in SC'20"):
        simulate(jobs, f"@agent:{path}")


def test_an_agent_that_commits_itself_to_the_shortest_is_sjf_as_in_sc20():
    """It has no action to wait, and chooses among all jobs, whether they fit or not."""
    jobs, rng = model_jobs(6, jobs=90), np.random.default_rng(0)
    weights = np.zeros((len(JOB_INPUTS), 1), np.float32)
    weights[JOB_INPUTS.index("request")] = -1
    for base in ("fcfs", "fcfs+easy"):
        longest = int(jobs.requested_time.max())
        episodes = Episodes(1, jobs, window=None, slots=90, commit=True, base=base, longest=longest)
        number = episodes.know("spf")
        episodes.begin(0, rng)
        roll(episodes, Network((weights,), (np.zeros(1, np.float32),), JOB_INPUTS), None)
        found = episodes.schedule(0).start_time.tolist()
        episodes.begin(0, rng)
        episodes.play_out(0, number)
        assert found == episodes.schedule(0).start_time.tolist()


def test_rollouts_of_several_logs_are_joined():
    rng, rollouts = np.random.default_rng(5), []
    for seed, processors in ((4, 64), (5, 32)):
        episodes = Episodes(2, model_jobs(seed, jobs=100, processors=processors), window=40, slots=32)
        drawn = episodes.begin(0, rng)
        episodes.begin_with(1, drawn)
        rollouts.append(roll(episodes, random_network(1), rng))
    both = joined(rollouts)
    count = len(rollouts[0].chosen)
    assert both.episode.tolist() == [*rollouts[0].episode, *(rollouts[1].episode + 2)]
    assert (both.rows[both.chosen[count:]] == rollouts[1].rows[rollouts[1].chosen]).all()
    assert (np.diff(both.first) == np.concatenate([np.diff(one.first) for one in rollouts])).all()
    assert len(advantages(both, copies=2)) == len(both.chosen)


def test_agents_are_compared_and_judged_like_other_schedulers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved(tmp_path, linear_network(is_waiting=-10, request=-1))
    jobs = model_jobs(2, jobs=120)
    found = sl.simulate_many([jobs], ["fcfs", "@agent:agent.json"], metrics="mean_wait")
    assert found[0, 1] == simulate(jobs, "@agent:agent.json").metrics()["mean_wait"]
    assert found[0, 1] < found[0, 0]
    gymnasium = pytest.importorskip("gymnasium", reason='needs Gymnasium: pip install ".[gym]"')
    assert gymnasium
    from schedlab.gym import Protocol, evaluate

    protocol = Protocol.drawn(jobs, 2, window=50, rng=np.random.default_rng(1))
    judged = evaluate({"agent": "@agent:agent.json", "fcfs": "fcfs"}, protocol)
    assert judged.decisions[0] > 0 == judged.decisions[1]
    assert judged.seconds[0] > 0


def test_advantages_compare_copies_of_a_window_and_count_windows_alike():
    jobs = model_jobs(4, jobs=200)
    episodes = Episodes(6, jobs, window=60, slots=32)
    rng = np.random.default_rng(5)
    for window in (0, 3):
        drawn = episodes.begin(window, rng)
        for e in (window + 1, window + 2):
            episodes.begin_with(e, drawn)
    rollout = roll(episodes, random_network(1), rng)
    gain = advantages(rollout, copies=3)
    assert len(gain) == len(rollout.chosen) == len(rollout.first) - 1
    assert (rollout.first[:-1] <= rollout.chosen).all()
    assert (rollout.chosen < rollout.first[1:]).all()
    first = [np.flatnonzero(rollout.episode == e)[0] for e in range(6)]
    total = [rollout.reward[rollout.episode == e].sum() for e in range(6)]
    for window in (0, 3):
        members = slice(window, window + 3)
        assert gain[rollout.episode // 3 == window // 3].std() == pytest.approx(1, abs=1e-6)
        assert np.argmax(gain[first][members]) == np.argmax(total[members])
        assert gain[first][members].sum() == pytest.approx(0, abs=1e-6)


def test_training_without_pytorch_says_what_to_install(monkeypatch):
    from schedlab.gym.training import train

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r'pip install "\.\[train\]"'):
        train(model_jobs(1), validation=model_jobs(2), seed=1)


@pytest.mark.slow
def test_training_makes_an_agent_better_and_is_the_same_for_the_same_seed(tmp_path):
    pytest.importorskip("torch", reason='needs PyTorch: pip install ".[train]"')
    from schedlab.gym.training import Settings, network_of, train

    jobs = model_jobs(1, jobs=900)
    settings = Settings(updates=8, windows=2, copies=6, window=50, slots=32, every=4)
    one, again = (train(jobs[:600], validation=jobs[600:], seed=3, settings=settings) for _ in range(2))
    assert one.agent.digest == again.agent.digest
    assert min(point.validation for point in one.curve) < one.curve[0].validation
    one.agent.save(tmp_path / "agent.json")
    assert simulate(jobs[600:], f"@agent:{tmp_path}/agent.json").metrics()["mean_wait"] > 0

    import torch

    layers = torch.nn.Sequential(torch.nn.Linear(14, 5), torch.nn.ReLU(), torch.nn.Linear(5, 1))
    rows = np.random.default_rng(1).random((7, 14), dtype=np.float32)
    network: Network = network_of(layers)
    assert network.values(rows) == pytest.approx(layers(torch.from_numpy(rows)).squeeze(1).detach().numpy(), rel=1e-5)


@pytest.mark.slow
def test_training_on_several_logs_with_a_curriculum_and_with_the_network_of_sc20():
    pytest.importorskip("torch", reason='needs PyTorch: pip install ".[train]"')
    from schedlab.gym.training import Settings, train

    logs = [model_jobs(1, jobs=300), model_jobs(2, jobs=300, processors=32)]
    few = {"updates": 2, "windows": 1, "copies": 3, "window": 40, "slots": 32, "every": 1}
    found = train(logs, validation=[one[:80] for one in logs], seed=1, settings=Settings(load=(0.8, 1.2), **few))
    assert found.agent.training["jobs"] == 600
    assert all(np.isfinite(point.validation) for point in found.curve)
    settings = Settings(view="job", commit=True, base="fcfs+easy", hidden=(6,), **few)
    found = train(logs[0], validation=logs[0], seed=1, settings=settings)
    assert found.agent.decision == "commit"
    assert [one.shape for one in found.agent.network.weights] == [(4, 6), (6, 1)]
    with pytest.raises(InputError, match="2 logs and 1 for validation"):
        train(logs, validation=logs[0], seed=1)
    with pytest.raises(InputError, match="view='all' is unknown"):
        train(logs[0], validation=logs[0], seed=1, settings=Settings(view="all"))


@pytest.mark.slow
def test_agents_and_environments_on_nodes():
    """As plain Python: the kernels of nodes take a minute to compile."""
    pytest.importorskip("gymnasium", reason='needs Gymnasium: pip install ".[gym]"')
    done = subprocess.run(
        [sys.executable, "-W", "ignore", os.path.join(os.path.dirname(__file__), "nodes_by_hand.py"), "4"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
