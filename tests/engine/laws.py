"""What holds of every schedule on the nodes of a cluster, worked out with pandas and without a line of the engine.

A run is what one start led to; where it is suspended, it holds its nodes in several pieces.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from schedlab.workload.resources import CHECKPOINTS

CLAIRVOYANT = re.compile(r"@actual(,[^@+]*)?$")
"""The end of the text of a scheduler that knows run times, not only to order the queue."""


def assert_laws_hold(schedule, cluster=None, events=None, reservation=None):
    """Check what must hold, whatever the scheduler.

    Parameters
    ----------
    schedule
        With a placement.
    cluster
        Whose limits hold; None: limits are not checked.
    events
        Of its nodes; only where the scheduler goes by requests, or by what it cannot know.
    reservation
        The name of each job's reservation, by row; None: no job asks for one.
    """
    if not len(schedule):
        return
    runs, pieces, places = runs_of(schedule), pieces_of(schedule), places_of(schedule)
    assert_nothing_is_held_twice(schedule, pieces.merge(places, on="run"), runs.merge(places, on="run"))
    assert_all_work_is_done_once(schedule, runs, pieces)
    if events is not None:
        asks = pd.Series("" if reservation is None else reservation, index=range(len(schedule)))
        assert_closures_are_kept(schedule, runs.merge(places, on="run"), events, asks)
    if cluster is not None and cluster.accounting is not None and schedule.pauses is None:
        assert_limits_are_kept(schedule, cluster, runs, pieces.merge(places, on="run"))
    if schedule.workload.workflows is None:  # else metrics are of the jobs beside them
        assert_metrics_are_right(schedule, pieces)


def runs_of(schedule):
    """Return the job, begin, end and request of each run, and whether it was done: not where the job was cancelled."""
    if schedule.runs is None:
        asked = schedule.workload.requested_time
        columns = {"job": range(len(schedule)), "begin": schedule.start_time, "end": schedule.end_time}
        runs = pd.DataFrame({**columns, "request": np.maximum(asked, 1), "done": schedule.ran})
    else:
        names = {"job": "job", "start": "begin", "end": "end", "request": "request", "done": "done"}
        names |= {name: name for name in ("saved", "overhead")}
        runs = pd.DataFrame({new: schedule.runs[old] for old, new in names.items()})
    return runs.rename_axis("run").reset_index()


def pieces_of(schedule):
    """Return from when to when each run held what it held: all of it but for the suspensions within."""
    runs = runs_of(schedule)
    pauses = pd.DataFrame({"job": [], "from": [], "to": []}, dtype="int64")
    if schedule.pauses is not None:
        pauses = pd.DataFrame(
            {"job": schedule.pauses["job"], "from": schedule.pauses["start"], "to": schedule.pauses["end"]}
        )
    rows = []
    for run in runs.itertuples():
        mine = pauses[(pauses["job"] == run.job) & (pauses["from"] >= run.begin) & (pauses["to"] <= run.end)]
        bounds = [run.begin, *mine[["from", "to"]].sort_values("from").to_numpy().ravel().tolist(), run.end]
        rows += [(run.run, run.job, begin, end) for begin, end in zip(bounds[::2], bounds[1::2], strict=True)]
    return pd.DataFrame(rows, columns=["run", "job", "begin", "end"])


def places_of(schedule):
    """Return the nodes of each run, and what it held there."""
    place = schedule.placement
    run = np.repeat(np.arange(len(place)), np.diff(place.offsets))
    job = run if schedule.runs is None else schedule.runs["job"][run]
    asked = schedule.workload.resources
    columns = {"node": place.node, "cores": place.held_cores}
    if asked is not None and set(asked.said) - {
        "tasks",
        "patience",
        *CHECKPOINTS,
    }:  # else nobody knows how many may share one
        columns["gpus"] = place.held_gpus * np.where(asked.gpu_share[job] > 0, asked.gpu_share[job], 1000)
    if place.held_memory is not None:
        columns["memory"] = place.held_memory
    return pd.DataFrame({"run": run, **columns})


def most_at_once(held, by, amount):
    """Return the most that was held at one time, by group; what ends in a second is gone in it."""
    held = held[held["end"] > held["begin"]]
    begins = held[[by, "begin", amount]].rename(columns={"begin": "second"})
    ends = held[[by, "end", amount]].rename(columns={"end": "second"})
    ends[amount] = -ends[amount]
    change = pd.concat([begins, ends]).groupby([by, "second"])[amount].sum()
    return change.groupby(level=0).cumsum().groupby(level=0).max()


def assert_nothing_is_held_twice(schedule, pieces, whole):
    """No node gives more cores or GPUs than it has at any time, nor memory, which suspended runs keep."""
    place = schedule.placement
    for amount, there, held in (
        ("cores", place.cores, pieces),
        ("gpus", place.gpus * 1000, pieces),
        ("memory", place.memory, whole),
    ):
        if there is None or amount not in held:
            continue
        most = most_at_once(held, "node", amount)
        given = pd.Series(there).loc[most.index]
        assert ((most <= given) | ((given == 0) & (amount == "memory"))).all(), f"more {amount} than a node has"


def assert_all_work_is_done_once(schedule, runs, pieces):
    """Runs of a job follow each other; at most the last one is done, and it did the work or met its request."""
    jobs = schedule.workload
    active = (pieces["end"] - pieces["begin"]).groupby(pieces["run"]).sum()
    assert (active >= 0).all()
    in_order = runs.sort_values(["job", "begin", "end"])
    after = in_order.groupby("job")["begin"].shift(-1)
    assert ((after >= in_order["end"]) | after.isna()).all(), "two runs of a job overlap"
    assert not in_order["done"][after.notna()].any(), "a job runs again after it was done"
    assert (in_order["begin"] >= jobs.submit_time[in_order["job"]]).all()
    done = runs[runs["done"] & ~schedule.killed[runs["job"]]]
    if "saved" in runs and runs["saved"].any():
        assert_checkpoints_save_work(runs.assign(active=active.loc[runs["run"]].to_numpy()), done["job"], jobs)
        return
    assert (active.loc[done["run"]].to_numpy() == jobs.run_time[done["job"]]).all(), "a run ended before its work"
    killed = runs[schedule.killed[runs["job"]] & runs["done"]]
    assert (active.loc[killed["run"]].to_numpy() <= jobs.run_time[killed["job"]]).all()


def assert_checkpoints_save_work(runs, done, jobs):
    """The runs of a job that is done have saved its work, no more; each lasted for that, its checkpoints, and a loss.

    How often it wrote follows from what it saved.
    """
    assert (runs[["saved", "overhead"]] >= 0).all().all()
    saved = runs.groupby("job")["saved"].sum()
    assert (saved.loc[done].to_numpy() == jobs.run_time[done]).all(), "a job is done before its work"
    assert (saved.to_numpy() <= jobs.run_time[saved.index]).all(), "more was saved than there is to do"
    lost = runs["active"] - runs["saved"] - runs["overhead"]
    assert (lost >= 0).all()
    assert (lost[runs["done"]] == 0).all(), "a run that was done has lost something"
    job = runs["job"].to_numpy()
    interval, cost, restart = (jobs[name][job] for name in ("checkpoint_interval", "checkpoint_cost", "restart_cost"))
    before = runs.sort_values(["job", "begin"]).groupby("job")["saved"].cumsum().loc[runs.index] - runs["saved"]
    read = np.where(before > 0, restart, 0)
    done_now, told = runs["done"].to_numpy(), jobs["checkpoint_when_told"][job] > 0
    most = np.where(interval > 0, runs["saved"] // np.maximum(interval, 1) + 1, np.where(told, 1, 0)) * cost + read
    assert (runs["overhead"].to_numpy() <= most).all(), "more checkpoints than the work that they save"
    whole = np.where(interval > 0, np.maximum(runs["saved"] - 1, 0) // np.maximum(interval, 1), 0) * cost + read
    assert (runs["overhead"].to_numpy()[done_now] == whole[done_now]).all(), "a run wrote too many checkpoints"


def assert_closures_are_kept(schedule, runs, events, asks):
    """No run begins on nodes that are closed, or reaches by its request into a closure that was known when it began.

    Predictions do not count: Slurm looks at the limit; a clairvoyant scheduler sees the end. Nodes that fail or are
    drained are no closures.
    """
    names = np.array(schedule.placement.nodes)
    own = asks.loc[runs["job"]].map({event.name: event.end for event in events if event.event == "reservation"})
    until = runs["end"] if CLAIRVOYANT.search(schedule.scheduler) else runs["begin"] + runs["request"]
    ends = own.to_numpy(dtype=float)
    runs = runs.assign(until=until.where(~(ends > runs["begin"]), np.minimum(until, ends)))  # it ends with its own one
    for event in events:
        if event.event not in ("maintenance", "reservation"):
            continue
        there = runs[np.isin(names[runs["node"]], event.nodes)]
        if event.event == "reservation":
            there = there[asks.loc[there["job"]].to_numpy() != event.name]
        begins = there["begin"]
        known = begins >= (begins.min() if event.announced is None else event.announced)
        reaches = (begins < event.end) & (there["until"] > event.second)
        assert not (known & reaches).any(), f"a run reaches by its request into a {event.event}"
        assert not begins.between(event.second, event.end, inclusive="left").any(), f"a run begins within {event}"


def assert_limits_are_kept(schedule, cluster, runs, pieces):
    """Accounts and QOS have no more running jobs and cores at any time, nor minutes to go, than their limits say."""
    who = association_of(schedule.workload, cluster.accounting)
    cores = pieces.groupby("run")["cores"].sum()
    held = runs.assign(cores=cores.reindex(runs["run"], fill_value=0).to_numpy(), one=1)
    held = held.join(who, on="job")
    for group, name, amount, most in group_limits(cluster.accounting):
        mine = held[held[group] == name]
        if len(mine):
            assert (most_at_once(mine, group, amount) <= most).all(), f"{group} {name}: more {amount} than {most}"
    for one in cluster.accounting.qos:
        mine = held[held["qos"] == one.name]
        if one.limits.max_jobs_per_user is not None and len(mine):
            assert (most_at_once(mine, "user", "one") <= one.limits.max_jobs_per_user).all(), f"jobs per user: {one}"
    if all(one.limits.max_jobs_per_user is None for one in cluster.accounting.qos):  # it would replace these
        assert_jobs_of_users_are_kept(held, cluster.accounting.users)
    if all(one.usage_factor == 1 for one in cluster.accounting.qos) and "@" not in schedule.scheduler:
        assert_minutes_of_all_are_kept(held, cluster.accounting)


def group_limits(accounting):
    """Yield the limits on all running jobs or cores of a QOS, and of an account where no QOS has one on the same.

    For the jobs of such a QOS, the limit of the account does not hold.
    """
    taken = set()
    for group, holders in (("qos", accounting.qos), ("account", accounting.accounts)):
        amounts = [("one", one.name, one.limits.grp_jobs) for one in holders]
        amounts += [("cores", one.name, dict(one.limits.grp_tres).get("cpu")) for one in holders]
        found = [one for one in amounts if one[2] is not None and one[0] not in taken]
        yield from ((group, name, amount, most) for amount, name, most in found)
        taken = {amount for amount, _, _ in found}


def assert_jobs_of_users_are_kept(held, users):
    """A user has in an account no more running jobs than allowed: in a partition named there, and in all others."""
    for one in users:
        mine = held[(held["user"] == one.user) & (held["account"] == one.account)]
        if one.partition:
            mine = mine[mine["partition"] == one.partition]
        else:
            apart = [other.partition for other in users if (other.user, other.account) == (one.user, one.account)]
            mine = mine[~mine["partition"].isin({*apart} - {""})]
        if one.limits.max_jobs is not None and len(mine):
            assert (most_at_once(mine, "user", "one") <= one.limits.max_jobs).all(), f"jobs of a user: {one}"


def association_of(jobs, accounting):
    """Return the user, the account, the QOS and the first partition of each job, as those who have one of each."""
    default = {one.user: one.account for one in accounting.users if one.default}
    users = pd.Series(jobs.user_id).astype(str)
    given = pd.Series(jobs.resources.account.texts() if jobs.resources is not None else "", index=users.index)
    account = given.where(given != "", users.map(default))
    named = pd.Series(jobs.resources.qos.texts() if jobs.resources is not None else "", index=users.index)
    qos = named.where(named != "", account.map(lambda name: default_qos(accounting, name)))
    asked = pd.Series(jobs.resources.partition.texts() if jobs.resources is not None else "", index=users.index)
    return pd.DataFrame({"user": users, "account": account, "qos": qos, "partition": asked.str.partition(",")[0]})


def default_qos(accounting, account):
    """Return the QOS of jobs that name none: of their account, or of the nearest above that has one; or the first."""
    tree = {one.name: one for one in accounting.accounts}
    while account in tree and not tree[account].default_qos:
        account = tree[account].parent
    first = accounting.qos[0].name if accounting.qos else ""
    return tree[account].default_qos if account in tree else first


def assert_minutes_of_all_are_kept(held, accounting):
    """The runs of a QOS, and of an account, have no more minutes of cores to go than each allows when one begins.

    That of the account does not hold for a job whose QOS has one. With predictions, they count until expected ends.
    """
    of_qos = {one.name: dict(one.limits.grp_tres_run_mins).get("cpu") for one in accounting.qos}
    for name, minutes in of_qos.items():
        if minutes is not None:
            mine = held[held["qos"] == name]
            assert_minutes_to_go(mine, mine["begin"], minutes)
    for one in accounting.accounts:
        minutes = dict(one.limits.grp_tres_run_mins).get("cpu")
        if minutes is not None:
            mine = held[held["account"] == one.name]
            bound = mine["qos"].map(of_qos.get).isna()
            assert_minutes_to_go(mine, mine["begin"][bound], minutes)


def assert_minutes_to_go(held, begins, minutes):
    """When some runs begin, what all have to go until their requests is within the limit; full minutes count."""
    for second in begins.unique():
        now = held[(held["begin"] <= second) & (held["end"] > second)]
        to_go = now["cores"] * (now["begin"] + now["request"] - second)
        assert to_go.sum() // 60 <= minutes, f"more than {minutes} minutes of cores to go in second {second}"


def assert_metrics_are_right(schedule, pieces):
    """Mean and longest wait, bounded slowdown and utilisation, worked out anew: of the jobs that were not cancelled."""
    jobs = pd.DataFrame({"queued": schedule.queued_since, "begin": schedule.start_time, "end": schedule.end_time})
    jobs = jobs[schedule.ran]
    if jobs.empty:
        return
    last = pieces.groupby("run").agg({"job": "first", "begin": "first", "end": "last"})
    active = (pieces["end"] - pieces["begin"]).groupby(pieces["run"]).sum()
    last = last.assign(active=active).sort_values(["job", "begin"]).groupby("job").last()
    ran = last["active"].reindex(jobs.index).to_numpy()
    wait = (jobs["begin"] - jobs["queued"]).to_numpy()
    if schedule.runs is not None:  # earlier runs count as far as checkpoints have saved their work
        earlier = runs_of(schedule).sort_values(["job", "begin", "end"])
        earlier = earlier[earlier["job"].eq(earlier["job"].shift(-1))]
        kept = (earlier["saved"] + earlier["overhead"]).groupby(earlier["job"]).sum()
        kept = kept.reindex(jobs.index, fill_value=0).to_numpy() if schedule.runs["saved"].any() else 0
        ran, wait = ran + kept, wait - kept
    found = schedule.metrics()
    slowdown = np.maximum((jobs["end"] - jobs["queued"]).to_numpy() / np.maximum(ran, 10), 1)
    expected = {"mean_wait": wait.mean(), "max_wait": wait.max(), "mean_bounded_slowdown": slowdown.mean()}
    makespan = schedule.end_time.max() - schedule.workload.submit_time.min()
    busy = ((pieces["end"] - pieces["begin"]) * schedule.workload.job_processors[pieces["job"]]).sum()
    if makespan:  # work that is done, lost, or spent on checkpoints is all that there is
        found["all work"] = sum(found.get(name, 0.0) for name in ("utilisation", "lost_share", "checkpoint_share"))
        expected |= {"makespan": makespan, "all work": busy / makespan / schedule.processors}
    for name, value in expected.items():
        assert np.isclose(found[name], value, rtol=1e-9), f"{name} is {found[name]}, not {value}"
