"""A scheduler text as a configuration of Slurm: passes, priorities, and orders that Slurm does not have."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.parts.priority.kernels import new_priority, rank_of
from schedlab.engine.prepared import Prepared, prepare
from schedlab.errors import InputError
from schedlab.scheduler.arguments import arguments
from schedlab.scheduler.backfilling import NoBackfill, Slurm
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import FCFS, Policy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.scheduler.slurm_limits import ALL, GROUP_DEPTHS
from schedlab.slurm.accounts import equal_shares
from schedlab.slurm.configuration import Configuration, machine_configuration, smallest_node
from schedlab.slurm.jobs import JobList, from_workload
from schedlab.workload.workload import Workload

HIGHEST = 2**31
"""The priority of the first job of an order; Slurm has room for twice that."""

HIGHEST_OF_SLURM = 2**32 - 3
"""No priority is higher: the two numbers above mean something else."""

_MANY = 1_000_000
_RANK = getattr(rank_of, "py_func", rank_of)


@dataclass(frozen=True, slots=True)
class Translation:
    """What a workload and a scheduler are in the laboratory.

    Parameters
    ----------
    configuration, jobs
        For the laboratory.
    policy
        An order that Slurm does not have itself, and that is set as priorities; None: none is needed.
    prepared
        The jobs as schedlab's own order sees them, if there is a policy: tasks of a workflow that is submitted aware
        have its place in the queue.
    """

    configuration: Configuration
    jobs: JobList
    policy: Policy | None
    prepared: Prepared | None = None

    def priorities(self, second: int) -> NDArray[np.int64]:
        """Return the priority of every job at a second of the workload's clock; equal scores have equal ones."""
        assert self.policy is not None
        assert self.prepared is not None
        seen = self.prepared.seen
        if isinstance(self.policy, Multifactor):
            records, weights = seen.view(np.recarray), new_priority(self.prepared)
            late = (second > seen["submit"]).tolist()
            found = [-_RANK(records, weights, job, second, late[job]) for job in range(len(seen))]
            return self.prepared.in_workload_order(np.minimum(np.array(found, dtype=np.int64), HIGHEST_OF_SLURM))
        waited = np.maximum(0, second - seen["submit"])
        since = seen["submit"] - self.jobs.workload.submit_time.min()
        scores = self.policy.scores(seen["estimate"], seen["processors"], since, waited)
        _, rank = np.unique(scores, return_inverse=True)
        return self.prepared.in_workload_order(HIGHEST - rank.astype(np.int64))


def translate(
    workload: Workload, scheduler: Scheduler, *, processors: int | None = None, cores_per_node: int | None = None
) -> Translation:
    """Return what a workload and a scheduler are in the laboratory.

    Raises
    ------
    InputError
        If Slurm cannot do what the scheduler says, or the machine is unknown.
    """
    passes = check_scheduler(scheduler)
    machine = _machine(workload, processors)
    cores = node_size(workload, scheduler, processors, cores_per_node)
    if scheduler.runtimes.text == "actual":
        workload = workload.replace(requested_time=np.maximum(1, workload.run_time))
    configuration = machine_configuration(machine, cores, exclusive=passes is not None and passes.node > 0)
    configuration = _with_passes(configuration, passes)
    policy = scheduler.policy
    if isinstance(policy, Multifactor) and not has_aware_workflows(workload):
        jobs = from_workload(workload, users=policy.fairshare > 0)
        return Translation(_with_priority(configuration, policy, jobs), jobs, None)
    if isinstance(policy, Multifactor) and policy.fairshare:
        raise InputError(
            f"{workload.name}: a workflow that is submitted aware has one place in the queue, which Slurm does not "
            "know; schedlab sets the priorities, but cannot follow the usage of users: leave fairshare= out"
        )
    jobs = from_workload(workload)
    if isinstance(policy, FCFS):  # equal priorities go by number, and the tasks of a workflow are submitted together
        return Translation(configuration, jobs, None)
    return Translation(configuration, jobs, policy, prepare(workload, scheduler, processors=machine))


def has_aware_workflows(workload: Workload) -> bool:
    """Return whether a workflow keeps one place in the queue for all its tasks."""
    return workload.workflows is not None and bool(workload.workflows.aware.any())


def node_size(
    workload: Workload, scheduler: Scheduler, processors: int | None = None, cores_per_node: int | None = None
) -> int:
    """Return the cores of a node in the laboratory: what the scheduler says, else the caller, else the workload.

    Raises
    ------
    InputError
        If the machine is unknown.
    """
    passes = scheduler.backfill
    own = passes.node or passes.shared if isinstance(passes, Slurm) else 0
    return own or cores_per_node or workload.cores_per_node or smallest_node(_machine(workload, processors))


def _machine(workload: Workload, processors: int | None) -> int:
    machine = processors or workload.processors
    if machine is None:
        raise InputError(f"{workload.name}: the size of the machine is unknown: give processors")
    return machine


def check_scheduler(scheduler: Scheduler) -> Slurm | None:
    """Return Slurm's passes, None if there is to be no backfilling.

    Raises
    ------
    InputError
        If Slurm cannot do what the scheduler says.
    """
    runtimes = scheduler.runtimes.text
    if runtimes not in ("requested", "actual"):
        raise InputError(f"{scheduler}: Slurm plans with the limits of jobs, not with {runtimes}")
    if scheduler.order_runtimes is not None:
        raise InputError(f"{scheduler}: Slurm orders jobs and plans with the same limits: remove the first @")
    if scheduler.options:
        raise InputError(f"{scheduler}: Slurm has no option {next(iter(scheduler.options))}")
    if isinstance(scheduler.backfill, NoBackfill):
        return None
    if not isinstance(scheduler.backfill, Slurm):
        raise InputError(f"{scheduler}: the real Slurm has its own backfilling: write {scheduler.policy.text}+slurm")
    if scheduler.backfill.reserve != ALL or scheduler.backfill.interval == 0:
        raise InputError(f"{scheduler}: Slurm has neither reserve= nor interval=0")
    if scheduler.backfill.otherwise:
        raise InputError(f"{scheduler}: a real Slurm has all rules of its version: remove otherwise=")
    if scheduler.backfill.ties == "number" and not isinstance(scheduler.policy, FCFS):
        raise InputError(f"{scheduler}: Slurm breaks ties by number under priority/basic alone: write fcfs")
    return scheduler.backfill


def _with_passes(configuration: Configuration, passes: Slurm | None) -> Configuration:
    if passes is None:
        return configuration.having(SchedulerType="sched/builtin")
    options = {
        "bf_interval": passes.interval,
        "bf_max_job_test": min(passes.depth, _MANY),
        "bf_resolution": passes.resolution,
        "bf_window": min(-(-passes.window // 60), 43200),
        "default_queue_depth": min(passes.queue_depth, _MANY),
        "batch_sched_delay": passes.delay,
    }
    for name in ("reserve_age", "reserve_priority"):
        if value := getattr(passes, name):
            options[arguments(Slurm)[name][0].synonym] = value
    if passes.switch_wait != Slurm().switch_wait:
        options["max_switch_wait"] = min(passes.switch_wait, _MANY)
    if passes.plan_size:
        options["bf_node_space_size"] = min(passes.plan_size, 2 * _MANY)
    for name in (*GROUP_DEPTHS, "starts", "main_starts"):
        if getattr(passes, name) not in (ALL, getattr(Slurm(), name)):
            options[arguments(Slurm)[name][0].synonym] = getattr(passes, name)
    changed = configuration.scheduling(",".join(f"{name}={value}" for name, value in options.items()))
    if passes.ties == "number":
        changed = changed.having(PriorityType="priority/basic")
    if not passes.overtime:
        return changed
    return changed.having(OverTimeLimit="UNLIMITED" if passes.overtime >= ALL else -(-passes.overtime // 60))


def _with_priority(configuration: Configuration, policy: Multifactor, jobs: JobList) -> Configuration:
    if policy.partition or policy.qos:
        raise InputError(f"{policy.text}: factors of partitions and QOS need a site's slurm.conf: give its directory")
    weights = {"Age": policy.age, "JobSize": policy.size, "Fairshare": policy.fairshare}
    values: dict[str, str | int] = {f"PriorityWeight{name}": int(weight) for name, weight in weights.items() if weight}
    flags = ["SMALL_RELATIVE_TO_TIME"] * policy.relative + ["ACCRUE_ALWAYS"] * (policy.accrue == "always")
    flags += ["NO_FAIR_TREE"] * (policy.shares == "classic")
    if policy.dampening > 1:
        values["FairShareDampeningFactor"] = policy.dampening
    values |= {
        "PriorityMaxAge": _duration(policy.max_age),
        "PriorityDecayHalfLife": _duration(policy.half_life),
        "PriorityCalcPeriod": max(1, policy.period // 60),
        "PriorityFavorSmall": "YES" if policy.favor == "small" else "NO",
    }
    if flags:
        values["PriorityFlags"] = ",".join(flags)
    # Without a database, 22.05 ignores age and fair share; the laboratory's accounts stand for one.
    users = jobs.users or ("lab",)
    values |= {"AccountingStorageType": "accounting_storage/slurmdbd"}
    if policy.fairshare and policy.ends == "counted":  # else Slurm forgets what jobs use after the last computation
        values |= {"AccountingStorageEnforce": "limits"}
    if not policy.half_life:
        values |= {"PriorityUsageResetPeriod": "YEARLY"}  # without either, slurmctld does not start
    return replace(configuration.having(**values), accounts=equal_shares(users))


def _duration(seconds: int) -> str:
    minutes = max(0, seconds // 60)
    return f"{minutes // 1440}-{minutes // 60 % 24:02d}:{minutes % 60:02d}:00"


def orders_that_change(policy: Policy | None) -> bool:
    """Return whether priorities have to be set again and again."""
    return policy is not None and policy.changes_with_time
