"""What the words and numbers of a page mean, a click away from where they stand."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

DEFINITIONS = {
    "wait": (
        "Wait",
        "Time from a job's submission to its start. Of a job that waits for other jobs to end, the wait begins when "
        "they "
        "have ended. Where a job may fail and be started again, it ends with the last start.",
    ),
    "submitted": (
        "Submitted",
        "When the job entered the system. A date where the log has one, in UTC, else the time since the first "
        "submission: day 1 begins with it.",
    ),
    "started": ("Started", "When the job got its processors; where it ran several times, for the last time."),
    "ended": (
        "Ended",
        "When the job gave its processors back: it was done, or was ended at its requested time. Whether it failed or "
        "was cancelled is what the log says, where it does.",
    ),
    "job": ("Job", "The number that the log gives to the job."),
    "group": (
        "User, account, partition, queue, application",
        "What the log says of the job. A name where the log has one, else its number there.",
    ),
    "nodes": ("Nodes", "Where the job ran the last time, and how many processors it held on each node."),
    "gpus": ("GPUs", "How many GPUs the job held on each node the last time it ran."),
    "attempts": ("Starts", "Each time the job was started: runs may fail and come back."),
    "when_it_came": (
        "When it came",
        "The jobs in the queue, and the processors that were free, in the second of the submission.",
    ),
    "overtook_others": (
        "Jobs that it overtook",
        "Jobs that were submitted before this one and started after it.",
    ),
    "clairvoyant": (
        "Clairvoyant",
        "The scheduler knows every run time beforehand. It cannot be installed; it stands there to show what perfect "
        "predictions would change, which need not be better in every metric.",
    ),
    "command": ("Command", "Typed in a shell, it repeats this run and writes its schedule."),
    "users_worse": (
        "Users who wait longer",
        "Users whose mean wait is longer than under the baseline by a minute or more; beside it, the user whose mean "
        "wait grows most, and by how much.",
    ),
    "turnaround": ("Turnaround", "Time from a job's submission to its end: its wait and its run time."),
    "run": ("Run time", "Time from a job's start to its end; a job that reaches its requested time is ended there."),
    "slowdown": (
        "Slowdown",
        "Turnaround divided by run time: 1 without any wait, 2 if a job waited as long as it ran. A run time of 0 s "
        "counts as 1 s.",
    ),
    "bounded_slowdown": (
        "Bounded slowdown",
        "Turnaround divided by run time, but run times below 10 s count as 10 s, so that very short jobs do not decide "
        "every mean; at least 1.",
    ),
    "processors": ("Size", "Processors (or what the machine is counted in) that a job holds while it runs."),
    "machine": ("Processors of the machine", "How many processors the jobs of the workload run on."),
    "requested": ("Requested time", "The limit that the user gave: the job is ended there. Schedulers plan with it."),
    "accuracy": ("Accuracy of the request", "Run time divided by requested time: 100% is a perfect request."),
    "size_class": (
        "Size class",
        "Serial jobs use one processor, narrow ones up to 1/16 of the machine, medium ones up to 1/4, wide ones more.",
    ),
    "utilisation": (
        "Utilisation",
        "Share of the machine's processors that running jobs asked for, averaged over the time that is meant: cores of "
        "a node that a job has alone without asking for them do not count, and whether programs use theirs is unknown.",
    ),
    "queue_length": ("Queue length", "Number of jobs that are submitted and not started."),
    "work_waiting": (
        "Work waiting",
        "Size times run time of all jobs in the queue, with the run times that they turned out to have: how long the "
        "whole machine would be busy with the queue alone.",
    ),
    "idle_while_waiting": (
        "Idle while jobs wait",
        "Share of the machine that is free at moments when at least one job waits: what fragmentation, reservations "
        "and "
        "the order of the queue cost.",
    ),
    "fragmentation": (
        "Fragmentation",
        "Share of the machine that is free while jobs wait and each of them needs more than that: capacity that no "
        "scheduler could have used at that moment. What is idle beyond it while jobs wait was held back by "
        "reservations, by the order of the queue, or because the scheduler had not looked yet. Counted in processors "
        "of the whole machine; where nodes are known, what is free in partly used nodes is drawn instead.",
    ),
    "fragmentation_gpus": (
        "Fragmentation of GPUs",
        "Share of the GPUs that is free while jobs wait for GPUs and each of them needs more than are free. What a job "
        "needs is what it held when it ran.",
    ),
    "stranded_gpus": (
        "GPUs without a free processor",
        "Share of the GPUs that is free on nodes whose processors are all held: no job can use these GPUs until a "
        "processor beside them becomes free.",
    ),
    "partly_used": (
        "Free in partly used nodes",
        "Share of the machine that is free on nodes on which something runs: useless for jobs that need whole nodes.",
    ),
    "utilisation_nodes": ("Utilisation of nodes", "Share of the nodes on which something runs."),
    "utilisation_memory": (
        "Utilisation of memory",
        "Share of the nodes' memory that is promised to jobs, whether they use it or not.",
    ),
    "memory": ("Memory", "What was promised to the job on all of its nodes together the last time it ran."),
    "utilisation_gpus": ("Utilisation of GPUs", "Share of the GPUs that jobs hold."),
    "told_reason": (
        "Slurm's reason",
        "What squeue gave as the reason while the job waited: Resources, the job is the first in the queue and lacks "
        "some; Priority, others stand before it. The queue was looked at from time to time; each reason counts from "
        "the look that found it to the next one.",
    ),
    "running_users": ("Running users", "Number of different users with at least one job running."),
    "backfilled": (
        "Backfilled",
        "Started ahead of the head of the queue while that was waiting for processors. All other jobs were started in "
        "the order of the queue.",
    ),
    "killed": ("Killed", "Ended at its requested time, before it was done."),
    "stood_before": (
        "Who stood before it",
        "Jobs that were in the queue when this one was submitted and started before it. Read from the schedule: their "
        "priorities are not recorded.",
    ),
    "overtook": (
        "Who overtook it",
        "Jobs that were submitted after this one and started before it, by a higher priority or by backfilling.",
    ),
    "reason": (
        "Why it waited",
        "The wait is split by what the schedule shows. Resources: less of the machine was free than the job needs. "
        "Order "
        "or reservation: enough was free, and the scheduler kept it for others or had not looked yet. Dependency: jobs "
        "that it waits for had not ended.",
    ),
    "freed_by": (
        "What made room",
        "Jobs that ended in the second in which this one started. This is a coincidence in time, not a record of the "
        "scheduler's reasoning.",
    ),
    "chain": (
        "Chain of causes",
        "From the job back in time: it started when a job ended, which had started when another one ended, and so on, "
        "each "
        "time the one that was most delayed against the other schedule. The chain is read from the two schedules; "
        "schedulers do not record why.",
    ),
    "wait_and_change": (
        "Mean wait and its change",
        "The mean wait of these jobs under this scheduler and, in parentheses, how much longer or shorter that is than "
        "under the baseline.",
    ),
    "share_of_waiting": (
        "Share of all waiting",
        "Of the seconds in which jobs were seen waiting, for whatever reason.",
    ),
    "change": ("Change", "The second schedule minus the first, job by job: negative is a shorter wait in the second."),
    "interval": (
        "95% interval",
        "From a bootstrap over weeks (days, if there are fewer than six whole weeks): how far the mean may be from "
        "that "
        "of further weeks of the same kind. It says nothing about other machines.",
    ),
    "work_lost": (
        "Work lost",
        "Core-hours that are lost, as a share of those of all jobs: what jobs that are killed at the new limit "
        "run until then and what they do not run, and all of jobs that cannot run. Today: of these, the core-hours of "
        "jobs that end at the limit that they ask for today, and are lost already.",
    ),
    "paired_interval": (
        "95 % interval of a change",
        "Of the mean difference of the same jobs: from the spread between periods of the log and, added in quadrature, "
        "between copies of it that differ by seconds. It says nothing about users who react.",
    ),
    "interval_of_instances": (
        "Interval of the mean",
        "From a bootstrap (BCa) over the instances: how far the mean may be from that of further instances of the same "
        "kind. It says nothing about other machines.",
    ),
    "verdict": (
        "Verdict",
        "Better or worse if the 95% interval of the mean ratio lies on one side of 1 (without a ratio, that of the "
        "difference on one side of 0); mixed if the values over all jobs (or, of a campaign, the mean difference) say "
        "the opposite; else the two cannot be told apart by these results.",
    ),
    "over_all_jobs": (
        "Over all jobs",
        "The metric over all jobs that count at once, as the table in the terminal has it. Means over weeks differ: in "
        "them each week counts alike, however many jobs it has.",
    ),
    "mean_ratio": (
        "Mean ratio",
        "Geometric mean of the scheduler's value over the baseline's, instance by instance: 0.5 is half of it.",
    ),
    "mean_difference": (
        "Mean difference",
        "Mean of the scheduler's value minus the baseline's, instance by instance.",
    ),
    "better_in": ("Better in", "Number of instances in which the scheduler is better than the baseline."),
    "instances": (
        "Instances",
        "Windows, repetitions and loads that every scheduler sees alike; in a comparison of one log, its weeks, or its "
        "days where there are fewer than six whole weeks.",
    ),
    "share_of_work": ("Share of the work", "Of the size times run time of all jobs."),
    "jobs": ("Jobs", "How many jobs the line is about; each counts once, whatever its size."),
    "mean": ("Mean", "Sum of the values divided by their number. A few very large values can decide it."),
    "median": ("Median", "The value that half of the jobs (or instances) do not exceed."),
    "largest": ("Largest", "The largest of all values."),
    "sooner": ("Sooner, later", "Share of the jobs that start sooner, or later, under the second scheduler."),
    "availability": ("In service", "Share of the machine on nodes that were not down, drained or in maintenance."),
    "failed_runs": (
        "Failed runs",
        "Starts of jobs that ended before the job was done: at their requested time, with a node, or for other jobs.",
    ),
    "preempted_runs": ("Preempted runs", "Runs that ended because jobs that go before theirs took their place."),
    "node_failed_runs": ("Runs that failed with a node", "Runs that ended because a node or a GPU of theirs failed."),
    "suspended": (
        "Suspended",
        "Jobs that stood still while jobs of a higher tier used their cores and went on later.",
    ),
    "cancelled": (
        "Cancelled",
        "Jobs that were cancelled while they waited. They stood in the queue, and count in no wait and no slowdown.",
    ),
    "switches": ("Leaf switches", "Mean number of leaf switches to which the nodes of a job on several nodes belong."),
    "lost_share": (
        "Lost share",
        "Share of the machine that was held by runs which failed, without the work that checkpoints saved.",
    ),
    "checkpoint_share": ("Checkpoints", "Share of the machine that wrote or read checkpoints."),
    "saved_share": ("Saved by checkpoints", "Share of the machine that runs which failed would have lost without."),
    "makespan": ("Makespan", "Time from the first submission to the last end."),
    "fairness": ("Fairness", "Jain's index of the users' mean bounded slowdowns: 1 if all users are served alike."),
    "throughput": ("Throughput", "Jobs that end, per day."),
    "percentile": ("Percentile", "The 95th percentile is the value that 95 of 100 jobs do not exceed; the 99th, 99."),
    "geometric_mean": ("Geometric mean", "The mean on a scale of ratios; one huge value cannot decide it."),
}
"""By key: the term, and its definition."""

_PHRASES = (
    (r"\d+(?:\.\d+)?% intervals?", "interval"),
    (r"one in twenty", "percentile"),
    (r"clairvoyant", "clairvoyant"),
    (r"[Hh]alf of", "median"),
    (r"bounded slowdowns?", "bounded_slowdown"),
    (r"in use", "utilisation"),
    (r"waited|waits?|did not wait", "wait"),
    (r"instances?", "instances"),
)


def with_definitions(text: str, **keys: str) -> Markup:
    """Return a text as HTML in which the first of each kind of phrase leads to its definition.

    Parameters
    ----------
    text
        As it is read; names in it may hold markup.
    **keys
        Other definitions of some phrases than the usual ones.

    Examples
    --------
    >>> with_definitions("Half of <b> waited.")
    Markup('<span data-term="median">Half of</span> &lt;b&gt; <span data-term="wait">waited</span>.')
    """
    found = [(match, key) for phrase, key in _PHRASES if (match := re.search(rf"\b(?:{phrase})(?!\w)", text))]
    pieces, at = [], 0
    for match, key in sorted(found, key=lambda each: each[0].start()):
        term = Markup('<span data-term="{}">{}</span>').format(keys.get(key, key), match[0])
        before = text[at : match.start()]
        if before.endswith("("):  # no line ends with a parenthesis that opens
            before, term = before[:-1], Markup('<span class="unbroken">(') + term + Markup("</span>")
        pieces += [escape(before), term]
        at = match.end()
    return Markup("").join([*pieces, escape(text[at:])])
