"""Who waits longer: groups that surely do, and those of which nothing can be judged."""

from __future__ import annotations

from schedlab.site.effects import Effect
from schedlab.site.who_pays import open_text, unjudged_texts

HOUR = 3600.0


def effect(kind, group, jobs, before, after, copies, interval=None):
    return Effect(kind, group, jobs, before, after, interval, copies=copies)


def test_a_group_that_waits_longer_in_each_copy_and_cannot_be_judged_is_told():
    found = [
        effect("all", "all jobs", 100, HOUR, 2 * HOUR, (HOUR, HOUR)),
        effect("account", "a", 90, HOUR, 20 * HOUR, (18 * HOUR, 20 * HOUR)),
        effect("user", "ann", 90, HOUR, 20 * HOUR, (18 * HOUR, 20 * HOUR)),
        effect("user", "bob", 10, HOUR, 3 * HOUR, (HOUR, 3 * HOUR)),
    ]
    assert unjudged_texts(found) == [
        "waits become longer in each copy for user ann (90 jobs, +19 h each); of other weeks that tells nothing, as "
        "these jobs come at one time"
    ]


def test_a_group_with_an_interval_or_without_more_waiting_in_each_copy_is_not():
    found = [
        effect("user", "ann", 90, HOUR, 20 * HOUR, (18 * HOUR, 20 * HOUR), (-HOUR, 30 * HOUR)),
        effect("user", "bob", 10, HOUR, 3 * HOUR, (-HOUR, 3 * HOUR)),
        effect("user", "carl", 10, 100 * HOUR, 101 * HOUR, (HOUR, HOUR)),  # by a hundredth
        effect("user", "dan", 10, 0.0, 30.0, (20.0, 40.0)),  # by seconds
        effect("user", "eve", 10, HOUR, 3 * HOUR, None),
    ]
    assert unjudged_texts(found) == []


def test_a_small_group_that_waits_many_times_as_long_in_each_copy_is_told_though_it_may_be_chance():
    gpus = effect("GPU", "with GPUs", 73, 12.5 * HOUR, 39.9 * HOUR, (20 * HOUR, 30 * HOUR), (-HOUR, 55 * HOUR))
    some = effect("partition", "debug", 69, HOUR, 2.5 * HOUR, (HOUR, 2 * HOUR), (-HOUR, 4 * HOUR))
    told = "with GPUs (73 jobs) wait 39.9 h instead of 12.5 h in each copy; other weeks may differ."
    assert open_text([some, gpus], "Under x, ") == [f"Under x, jobs {told}"]
    for other in (
        effect("GPU", "with GPUs", 73, 12.5 * HOUR, 39.9 * HOUR, (-HOUR, 30 * HOUR), (-HOUR, 55 * HOUR)),
        effect("GPU", "with GPUs", 73, 12.5 * HOUR, 20 * HOUR, (HOUR, 9 * HOUR), (-HOUR, 55 * HOUR)),  # not twice
        effect("GPU", "with GPUs", 73, 60.0, 600.0, (500.0, 600.0), (-HOUR, HOUR)),  # some minutes
        effect("GPU", "with GPUs", 73, 12.5 * HOUR, 39.9 * HOUR, (20 * HOUR, 30 * HOUR), (HOUR, 55 * HOUR)),  # pays
    ):
        assert open_text([other]) == []
