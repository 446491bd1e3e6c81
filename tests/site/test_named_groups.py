"""Who changes the line of a group is told what becomes of its jobs, whatever becomes of others."""

from __future__ import annotations

from schedlab.site.effects import Effect
from schedlab.site.named_groups import named_texts

HOUR = 3600.0
ALL = Effect("all", "all jobs", 100, HOUR, HOUR, None)


def test_a_group_of_which_nothing_is_sure_is_told_as_that():
    found = [ALL, Effect("account", "lab", 60, 2 * HOUR, 3 * HOUR, (-HOUR, 4 * HOUR))]
    assert named_texts(["Account=lab Fairshare=9", "SchedulerParameters.bf_interval=30"], found, "Under x, ") == [
        "Under x, account lab, whose line is changed: 60 jobs wait 3 h instead of 2 h in the mean, perhaps by chance "
        "(between 1 h shorter and 4 h longer)."
    ]


def test_a_group_that_waits_as_before_or_on_which_nothing_tells_how_sure_it_is():
    found = [ALL, Effect("user", "ann", 40, HOUR, HOUR, (0.0, 0.0)), Effect("QOS", "high", 40, 0.0, HOUR, None)]
    ann, high = named_texts(["User=ann MaxJobs=3", "QOS=HIGH Priority=7"], found)
    assert ann == "User ann, whose line is changed: 40 jobs wait as long as before in the mean (60 min)."
    assert high.endswith("40 jobs wait 60 min instead of 0 s in the mean; of other weeks this log tells nothing.")


def test_what_copies_show_is_told_where_no_interval_can_be_and_where_they_agree():
    minute = 60.0
    alone = Effect("QOS", "high", 40, HOUR, 2 * HOUR, None, copies=(55 * minute, 65 * minute))
    both = Effect("QOS", "low", 40, HOUR, 2 * HOUR, (-HOUR, 3 * HOUR), copies=(55 * minute, 65 * minute))
    high, low = named_texts(["QOS=high Priority=7", "QOS=low Priority=7"], [ALL, alone, both])
    assert high.endswith("in the mean (55 to 65 min longer in its copies); of other weeks this log tells nothing.")
    assert low.endswith("in each copy of this log, but other weeks may differ (between 1 h shorter and 3 h longer).")


def test_a_partition_that_nearly_all_jobs_are_in_has_been_told_of_and_other_lines_name_no_group():
    found = [ALL, Effect("partition", "batch", 99, HOUR, 2 * HOUR, (HOUR, HOUR))]
    assert named_texts(["PartitionName=batch MaxTime=1-0", "NodeName=n1 CPUs=4"], found) == []
    assert named_texts(["PartitionName=batch MaxTime=1-0"], []) == []
