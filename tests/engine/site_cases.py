"""Random partitions that overlap, of two tiers, and limits, for random nodes."""

from __future__ import annotations

from random import Random

import numpy as np

from schedlab.engine.machine.fitting import fitting
from schedlab.engine.machine.numbers import NO_CAP, NodeInputs
from schedlab.engine.parts.limits.numbers import LimitInputs
from schedlab.engine.parts.limits.tres import Billing
from schedlab.engine.parts.priority.associations import Associations
from schedlab.engine.parts.submission_limits.numbers import SubmissionLimitInputs, batches
from schedlab.workload.workload import Workload

REQUEST = ("nodes", "tasks", "tasks_per_node", "task_cores", "task_memory", "task_gpus", "node_memory", "node_gpus")
REST = ("share", "gpu_type", "exclusive")
MOST_PARTITIONS = 3
ELSEWHERE = 0.5
"""How often a job does without the partition of all nodes."""
NAMED = 0.5
"""How often requests are for nodes that jobs name."""
CAPPED = 0.5
"""How often the jobs of a partition may hold only some cores of each node together."""


def site_of(partitions, tiers, options, limits=(), uses=None) -> LimitInputs:
    """Return partitions (rows of nodes) with tiers, options of jobs (partition, shape), limits and uses of them."""
    uses = [[] for _ in options] if uses is None else uses
    return LimitInputs(
        tier=np.array(tiers),
        nodes=np.array(partitions, dtype=np.bool_),
        option_offset=np.cumsum([0, *(len(one) for one in options)]),
        option_partition=np.array([partition for one in options for partition, _ in one]),
        option_shape=np.array([shape for one in options for _, shape in one]),
        limit=np.array([most for most, _, _ in limits], dtype=np.int64),
        timed=np.array([timed for _, timed, _ in limits], dtype=np.bool_),
        stops=np.array([reason != "jobs" for _, _, reason in limits], dtype=np.bool_),
        reason=tuple(reason for _, _, reason in limits),
        use_offset=np.cumsum([0, *(len(one) for one in uses)]),
        use_limit=np.array([limit for one in uses for limit, _ in one], dtype=np.int64),
        use_amount=np.array([amount for one in uses for _, amount in one], dtype=np.int64),
    )


def random_site(
    workload: Workload, nodes: NodeInputs, random: Random, tiers: int = 2
) -> tuple[NodeInputs, LimitInputs]:
    """Return nodes with a request for each partition of a job, and partitions of tiers; the first has all nodes."""
    count, partitions = len(nodes.cores), random.randint(1, MOST_PARTITIONS)
    members = [[True] * count, *([random.random() < 0.6 for _ in range(count)] for _ in range(partitions - 1))]
    members = [row if any(row) else [True] * count for row in members]
    tier = [random.randint(1, tiers) for _ in members]
    shapes: dict[tuple[int, int], int] = {}
    wishes = []
    for shape in nodes.shape.tolist():
        chosen = {0, *random.sample(range(partitions), random.randint(1, partitions))}
        named = random.sample(sorted(chosen), len(chosen))
        wishes.append([(one, shapes.setdefault((shape, one), len(shapes))) for one in named])
    marks = Random(len(shapes) - count)
    nodes = _with_caps(_with_shapes(nodes, members, shapes), [one for _, one in shapes], Random(len(shapes) + count))
    if marks.random() < NAMED:  # for which a job that waits in Slurm's main pass closes its nodes alone
        nodes = nodes._replace(named=np.array([marks.random() < NAMED for _ in shapes]))
    fits = fitting(nodes._replace(shape=np.arange(len(shapes))))
    options = [[(one, shape) for one, shape in wish if fits[shape]] for wish in wishes]
    own = Random(len(shapes))  # the other draws are what they are without it
    options = [_without_first(found) if own.random() < ELSEWHERE else found for found in options]
    options = [sorted(found, key=lambda option: -tier[option[0]]) for found in options]
    nodes = nodes._replace(shape=np.array([found[0][1] for found in options]))
    site = site_of(members, tier, options, *_limits(workload, random))
    return nodes, site._replace(
        submission_limits=random_submission_limits(workload, Random(int(workload.submit_time.sum())))
    )


def _with_caps(nodes: NodeInputs, partitions: list[int], random: Random) -> NodeInputs:
    """Return nodes with caps on the cores of each that jobs of some partitions hold, which are those of its requests.

    Caps are so small that hardly any could be smaller for all requests to fit.
    """
    shape = np.arange(len(partitions))
    fits = fitting(nodes._replace(shape=shape))
    cap, caps = np.full(len(partitions), NO_CAP, dtype=np.int64), []
    for one in range(max(partitions) + 1):
        mine = np.array(partitions) == one
        for most in range(1, int(nodes.cores.max())) if random.random() < CAPPED else ():
            tried = nodes._replace(shape=shape, cap=np.where(mine, len(caps), cap), caps=np.array([*caps, most]))
            if (fitting(tried) | ~mine | ~fits).all():
                cap[mine] = len(caps)
                caps.append(most + random.choice([0, 0, 1]))
                break
    return nodes._replace(cap=cap, caps=np.array(caps, dtype=np.int64)) if caps else nodes


def _without_first(options: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the options in partitions that need not have all nodes, if there are any."""
    return [(one, shape) for one, shape in options if one != 0] or options


def random_submission_limits(workload: Workload, random: Random) -> SubmissionLimitInputs | None:
    """Return limits on submitted jobs of a workload in order of submission, some of which come together; or None."""
    if random.random() < 0.5:
        return None
    jobs = len(workload)
    batch = batches(workload)
    for one in range(1, jobs):
        if workload.submit_time[one] == workload.submit_time[one - 1] and random.random() < 0.5:
            batch[one] = batch[one - 1]
    most = np.unique(batch, return_counts=True)[1].max()
    limits = [int(most) + random.randint(0, 3), int(most)]
    aware = np.zeros(jobs, dtype=np.bool_) if workload.workflows is None else workload.workflows.aware
    uses = [[one for one in range(2) if not aware[job] and random.random() < 0.7] for job in range(jobs)]
    made = SubmissionLimitInputs(
        np.array(limits),
        ("submitted", "submitted too"),
        np.cumsum([0, *map(len, uses)]),
        np.array([one for mine in uses for one in mine], dtype=np.int64),
        np.ones(sum(map(len, uses)), dtype=np.int64),
        batch,
    )
    return made.of_first(workload.job_id)


def _with_shapes(nodes: NodeInputs, members: list[list[bool]], shapes: dict[tuple[int, int], int]) -> NodeInputs:
    """Return nodes with a request for each pair of a former request and a partition."""
    former = np.array([shape for shape, _ in shapes])
    rows = nodes.allowed[nodes.eligible[former]] & np.array(members)[[one for _, one in shapes]]
    columns = {name: getattr(nodes, name)[former] for name in (*REQUEST, *REST)}
    for name in ("most_nodes", "way"):
        if getattr(nodes, name) is not None:
            columns[name] = getattr(nodes, name)[former]
    return nodes._replace(allowed=rows, eligible=np.arange(len(shapes)), **columns)


def _limits(workload: Workload, random: Random):
    """Return limits of cores, of jobs and of core-seconds to come, and who is under which."""
    if random.random() < 0.3:
        return (), None
    widths = workload.job_processors.tolist()
    most, longest = max(widths), int(workload.requested_time.max())
    limits = [(most, False, "cores"), (random.randint(1, 3), False, "jobs"), (longest * most, True, "core-seconds")]
    uses = []
    for width in widths:
        amounts = ((0, width), (1, 1), (2, width))
        uses.append([use for use, often in zip(amounts, (0.4, 0.3, 0.3), strict=True) if random.random() < often])
    return limits, uses


def random_associations(random: Random, processors: np.ndarray) -> Associations:
    """Return a random tree, and whose each job is; who is below an account without shares is below the one above."""
    names, parent, shares, accounts = [("", "root", "")], [-1], [1.0], [0]
    for number in range(1, random.randint(3, 14)):
        user = number == 1 or random.random() < 0.6
        names.append((f"u{number}" if user else "", f"a{number}", ""))
        parent.append(random.choice(accounts))
        shares.append(float(random.choice([1, 1, 1, 2, 3, 0, -1])))
        if not user and shares[-1] >= 0:
            accounts.append(number)
    user = np.array([bool(name) for name, *_ in names])
    of_job = np.array([random.choice(np.flatnonzero(user).tolist()) for _ in processors], dtype=np.int64)
    rate = Billing.of(processors * random.choice([1.0, 2.0]))
    return Associations(tuple(names), np.array(parent), np.array(shares), user, of_job, rate)


def with_whole_nodes(billing: Billing, random: Random, nodes: int) -> Billing:
    """Return the usage of jobs of which some are billed for all that their nodes have, in two partitions."""
    jobs = len(billing.fixed)
    return Billing(
        billing.fixed,
        np.array([random.choice([-1, 0, 1]) for _ in range(jobs)]),
        np.array([random.choice([0.5, 1.0]) for _ in range(jobs)]),
        np.array([[random.choice([0.0, 1.0, 2.0]) for _ in range(2)] for _ in range(2)]),
        np.array([False, True]),
        np.array([[float(random.randint(0, 8)) for _ in range(nodes)] for _ in range(2)]),
    )
