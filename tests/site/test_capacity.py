"""How many nodes a site needs, on sites of which one knows how long each job waits."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace

import pytest

from schedlab.cli import main
from schedlab.cluster.hostlist import host_names
from schedlab.errors import InputError
from schedlab.site import import_site
from schedlab.site.capacity import capacity
from schedlab.site.capacity_found import Capacity, CapacityStep, not_monotone
from schedlab.site.capacity_goal import Goal
from schedlab.site.capacity_search import CapacitySearch, next_number
from schedlab.site.capacity_table import columns
from schedlab.site.capacity_text import lead_of
from schedlab.site.changes import changed
from schedlab.site.more_nodes import check_kind, more_nodes, new_names, node_kinds

CONF = """ClusterName=lab
SchedulerType=sched/builtin
NodeName=n1 CPUs=1
NodeName=g1 CPUs=1
PartitionName=batch Nodes=n1 Default=YES MaxTime=1-0
PartitionName=gpu Nodes=g1 MaxTime=1-0
"""
HEAD = "submit_time,run_time,requested_time,requested_processors,user_id,partition\n"


@pytest.fixture
def site(tmp_path):
    """Twelve jobs of an hour come at once: on N nodes, N of them wait 0 h, N wait 1 h, and so on."""
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "jobs.csv").write_text(HEAD + "".join(f"{second},3600,3600,1,1,batch\n" for second in [0] * 12))
    return import_site(tmp_path / "slurm.conf", tmp_path / "jobs.csv").save(tmp_path / "site")


def asked(site, text, nodes=("n1",), **options) -> Capacity:
    """Ask with the jobs at their seconds, of which one knows the waits to the second, unless copies are given."""
    given = {"copies": 1, "workers": 1} | options
    return capacity(site, Goal.parse(text, given.pop("of", "")), nodes, **given)


def test_the_smallest_number_of_nodes_is_found_whose_waits_are_known(site):
    """Means of 0..11 h on one node; of 2 nodes 2.5 h, 3 nodes 1.5 h, 4 nodes 1 h: for 2 h one needs 3 nodes in all."""
    found = asked(site, "mean_wait=2h")
    assert found.before == 5.5 * 3600
    assert found.best.needed == 2
    values = {step.nodes: step.value / 3600 for step in found.best.steps}
    assert values == {1: 2.5, 2: 1.5}
    assert found.best.decisive.saved == 12 * (5.5 - 1.5)


def test_the_command_that_asks_further_says_how_many_nodes_like_which(site):
    """Not with the lines of slurm.conf that these are, unless new nodes join another partition than those there are."""
    found = asked(site, "mean_wait=2h", ("n1", "g1"), most=2)
    lines = [line for line in str(found).splitlines() if line.startswith("schedlab site what-if ")]
    assert [shlex.split(line)[4:6] for line in lines] == [
        ["--set", "2 more nodes like n1"],
        ["--set", "2 more nodes like g1"],
    ]
    assert "--set 'NodeName=n[2-3] " in str(asked(site, "mean_wait=2h", most=2, partitions=["batch", "gpu"]))


def test_the_command_that_asks_further_can_be_pasted_as_it_is_printed(site, capsys, monkeypatch):
    text = str(asked(site, "mean_wait=2h"))
    command = next(line for line in text.splitlines() if line.startswith("schedlab site what-if "))
    monkeypatch.setattr("sys.argv", [*shlex.split(command), "-j", "1"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    assert "would shorten the mean wait from 5.5 h to 1.5 h" in capsys.readouterr().out


def test_between_two_powers_of_two_the_search_halves(site):
    """The longest wait is 12 / nodes - 1 hours: 6 nodes in all for 1 h, and 5 would leave 2 h for two jobs."""
    found = asked(site, "max_wait=1h")
    assert found.best.needed == 5
    assert [step.nodes for step in found.best.steps] == [1, 2, 4, 5, 6, 8]
    assert {step.nodes: step.value for step in found.best.steps}[4] == 2 * 3600


def test_a_goal_that_holds_already_needs_no_node(site):
    found = asked(site, "mean_wait=6h")
    assert found.kinds == ()
    assert "no more nodes are needed: the mean wait is 5.5 h as it is (goal: 6 h)" in found.sentences()[0]


def test_nodes_of_another_partition_change_nothing_and_the_answer_says_why(site):
    found = asked(site, "mean_wait=2h", ("n1", "g1"), most=4)
    assert [one.kind.name for one in found.kinds] == ["n1", "g1"]
    other = found.kinds[1]
    assert (other.needed, other.unusable.reasons, other.steps[-1].unchanged) == (None, {"partition": 1.0}, True)
    assert (
        "4 more nodes like g1 change nothing: 100% of all waiting is that of jobs that cannot use them, because of "
        "their partition: batch"
    ) in " ".join(found.sentences())


def test_a_goal_out_of_reach_says_how_far_one_comes(site):
    """With three nodes in all, the mean wait is 1.5 h."""
    found = asked(site, "mean_wait=1h", most=2)
    assert found.best.needed is None
    first, second, *_ = found.sentences()
    assert first.endswith(" says: 2 more nodes like n1 do not reach the goal of 60 min.")
    assert second == "The mean wait goes from 5.5 h to 90 min."


def site_of_five_jobs(tmp_path, days):
    """Return a site with four jobs of two hours at once, and one more after so many days."""
    (tmp_path / "slurm.conf").write_text(CONF)
    times = [0] * 4 + [days * 86_400]
    (tmp_path / "jobs.csv").write_text(HEAD + "".join(f"{one},7200,7200,1,1,batch\n" for one in times))
    return import_site(tmp_path / "slurm.conf", tmp_path / "jobs.csv").save(tmp_path / "site")


def test_if_no_kind_is_enough_the_first_sentences_have_how_near_each_comes_and_what_it_costs(site):
    """Two more of n1: 1.5 h, from 5.5 h, with a goal of 1 h more than halfway; 2 x 720 h x 0.90. Saved are 48 h."""
    found = asked(site, "mean_wait=1h", ("n1", "g1"), most=2, prices={"": 0.9, "g1": 4.0}, currency="EUR")
    first, *others = lead_of(found)
    assert (
        "with up to 2 more nodes, none of 2 kinds brings the mean wait, 5.5 h as it is, to the goal of 60 min." in first
    )
    assert others[0] == "2 like n1 bring it to 90 min, for 1,296 EUR in 30 days."
    assert others[1].startswith("2 like g1 change nothing: 100% of all waiting is")
    assert "4 are tried with --most 4." in others
    assert not any("--most" in one for one in lead_of(asked(site, "mean_wait=1h", ("g1",), most=1)))  # none came nearer
    assert "4 are tried with --most 4." in lead_of(asked(site, "mean_wait=1h", most=2))


def test_the_nodes_that_save_an_hour_at_the_least_cost_are_named(tmp_path):
    """Nodes for the same jobs at 0.90 and 4.00 an hour: what they save is the same."""
    (tmp_path / "slurm.conf").write_text(CONF.replace("Nodes=n1 Default", "Nodes=n1,g1 Default"))
    (tmp_path / "jobs.csv").write_text(HEAD + "0,3600,3600,1,1,batch\n" * 12)
    site = import_site(tmp_path / "slurm.conf", tmp_path / "jobs.csv").save(tmp_path / "site")
    found = asked(site, "mean_wait=1m", ("n1", "g1"), most=1, prices={"n1": 4.0, "g1": 0.9}, currency="EUR")
    # On two cores two jobs wait for 0, 1, ... 5 h, 30 in all, on three four for 0, 1, 2, 3 h, i.e. 18 in all: 12 saved.
    # The last job starts after 5 h as it is, until when the node is paid: 0.90 x 5 / 12.
    assert found.kinds[0].steps[-1].saved == 12
    cheapest = "Of the numbers that surely save waiting, 1 more like g1 save an hour of it at the least cost: 0.38 EUR."
    assert cheapest in found.sentences()


def test_the_nodes_that_save_hours_at_the_least_cost_are_among_those_that_surely_save_some(site):
    """A smaller cost of a number whose saving may be chance is in the table, marked; if all may be, none is named."""
    found = asked(site, "mean_wait=1s", ("n1", "g1"), most=2, prices=1.0)
    few, more = next(one for one in found.kinds if one.kind.name == "n1").steps

    def with_chance(*unsure):
        steps = tuple(by_chance(one) if one.nodes in unsure else one for one in (few, more))
        kinds = tuple(replace(one, steps=steps) if one.kind.name == "n1" else one for one in found.kinds)
        return replace(found, kinds=kinds)

    # On two nodes 2.5 h, 36 h saved for 11 h of one node; on three 48 h for those of two.
    assert found.cost_of_an_hour(found.kinds[0], few) == 11 / 36
    assert "1 more like n1 save an hour of it at the least cost: 0.31." in str(found)
    one_unsure = str(with_chance(1))
    assert "2 more like n1 save an hour of it at the least cost: 0.46. Smaller costs in the table may be" in one_unsure
    assert one_unsure.count("saving may be chance") == 1
    assert "at the least cost cannot be told: all that they save may be chance" in str(with_chance(1, 2))


def by_chance(step):
    """Return a number of nodes whose effect on all jobs has an interval with 0."""
    every = [replace(one, interval=(-9e9, 9e9)) if one.kind == "all" else one for one in step.effects]
    return replace(step, effects=tuple(every))


def test_nodes_are_paid_as_long_as_the_hours_that_they_save_are_counted(tmp_path):
    """Four jobs of two hours, and one after three: on one node 0, 2, 4, 6 and 5 h; on two 0, 0, 2, 2 and 1 h.

    Saved are 12 h until the last start, after 8 h; before the last submission 8 h were waited instead of 4 h, in 3 h.
    """
    (tmp_path / "slurm.conf").write_text(CONF)
    times = [0, 0, 0, 0, 10_800]
    (tmp_path / "jobs.csv").write_text(HEAD + "".join(f"{one},7200,7200,1,1,batch\n" for one in times))
    site = import_site(tmp_path / "slurm.conf", tmp_path / "jobs.csv").save(tmp_path / "site")
    found = asked(site, "max_wait=2h", prices=0.5, currency="EUR")
    step = found.best.decisive
    assert (found.span, found.until) == (3 * 3600, 8 * 3600)
    assert (step.nodes, step.saved, step.saved_in_log) == (1, 12, 4)
    assert found.cost_of_an_hour(found.best, step) == pytest.approx(8 * 0.5 / 12)
    assert found.cost_of_an_hour(found.best, step, in_log=True) == pytest.approx(3 * 0.5 / 4)
    told = " ".join(found.sentences())
    assert "saves 12 hours of waiting in the 8 h until the last job of the log starts" in told
    assert (
        "Of the 12 hours that 1 more like n1 save, 4 lie before the last submission (3 h), the others while the log "
        "only drains. Of these alone, with the nodes until then, one costs 0.38 EUR."
    ) in told


def test_kinds_are_compared_at_one_number_of_nodes_without_a_goal(site, tmp_path, capsys, monkeypatch):
    """On three nodes the jobs wait 1.5 h on average; two more g1 are of no use to them."""
    page = tmp_path / "kinds.html"
    words = [site, "--add", 2, "--price", "0.9", "--currency", "EUR", "-j", 1, "--copies", 1, "--report", page]
    code, out, err = run(capsys, monkeypatch, *words)
    assert code == 0
    assert (
        "2 more nodes like n1, those of 2 kinds that help most here, bring the mean wait from 5.5 h to 90 min." in out
    )
    assert "They cost 1,296 EUR in 30 days at 0.90 EUR per node-hour; 0.41 EUR per hour of waiting saved." in out
    assert "2 like g1 change nothing: 100% of all waiting is that of jobs that cannot use them" in out
    assert "goal" not in out
    assert "the mean wait is 5.5 h as it is" in err
    text = re.sub("<[^>]+>", "", page.read_text(encoding="utf-8"))
    assert "2 more nodes, of which kind?" in text
    assert "dashed: the goal" not in text
    found = capacity(site, add=2, copies=1, workers=1)
    assert [(one.kind.name, [step.nodes for step in one.steps]) for one in found.kinds] == [("n1", [2]), ("g1", [2])]
    assert found.to_document()["goal"]["value"] is None


def test_kinds_that_the_log_cannot_tell_apart_are_told_to_be_so(tmp_path):
    """Nodes of two kinds that all jobs can use alike."""
    (tmp_path / "slurm.conf").write_text(CONF.replace("Nodes=n1 Default", "Nodes=n1,g1 Default"))
    days = [day for day in range(20) for _ in range(40 if day in (0, 10) else 1)]
    (tmp_path / "jobs.csv").write_text(HEAD + "".join(f"{day * 86_400},3600,3600,1,1,batch\n" for day in days))
    site = import_site(tmp_path / "slurm.conf", tmp_path / "jobs.csv").save(tmp_path / "site")
    found = capacity(site, nodes=("n1", "g1"), add=1, copies=1, workers=1)
    assert found.kinds[0].instead is None
    assert found.kinds[1].instead.difference == 0
    first, second = (one.kind.name for one in found.kinds)
    told = f"This log cannot tell which help more, nodes like {first} or those like {second}."
    assert told in lead_of(found)
    assert any(text.startswith(f"1 like {second} bring it to") for text in lead_of(found))


def test_the_goal_and_what_is_reached_today_are_told_before_nodes_are_tried(site):
    said = []
    asked(site, "mean_wait=2h", told=said.append)
    assert said[1] == "goal: mean wait at most 2 h; the mean wait is 5.5 h as it is"


def test_a_value_that_misses_the_goal_by_less_than_the_table_shows_says_so(site):
    """Two more nodes give 90 minutes, which is more than the goal of 5,398 seconds."""
    found = asked(site, "mean_wait=5398s")
    assert found.best.needed == 3
    _, rows = columns(found)
    assert {row[1]: row[-1] for row in rows}["2"] == "just misses the goal"


def test_what_may_be_chance_is_said_so_in_the_first_sentence(site, monkeypatch):
    monkeypatch.setattr(CapacityStep, "may_be_chance", True)
    first = lead_of(asked(site, "mean_wait=2h"))[0]
    assert "on this log, 2 more nodes like n1 bring the mean wait from 5.5 h to 90 min; whether they really" in first


def hours(text):
    """Return a duration that is told in hours, as all of these columns are."""
    number, unit = text.split()
    assert unit == "h"
    return float(number)


def test_the_numbers_that_decide_run_on_copies_where_there_are_too_many_to_run_all(site, monkeypatch):
    """Up to 108 jobs may be simulated: all numbers are tried once, those of each kind that decide three times."""
    monkeypatch.setattr("schedlab.site.copies.MOST_JOBS", 12 * 3 * 3)
    found = asked(site, "mean_wait=2h", ("n1", "g1"), most=4, copies=None)
    assert found.copies == 3
    assert [[(step.nodes, step.runs) for step in one.steps] for one in found.kinds] == [
        [(1, 1), (2, 3)],
        [(1, 1), (2, 1), (4, 3)],
    ]
    text = str(found)
    assert "Both sides were simulated 3 times" in text
    assert "That holds for the numbers of nodes that decide; the others were simulated on fewer copies." in text
    assert text.count("simulated once") == 1  # of n1; those of g1 have no effect
    head, rows = columns(found)
    value, before = (head.index(name) for name in ("mean wait", "as it is, same copies"))
    for row, step in zip(rows[1:], (step for one in found.kinds for step in one.steps), strict=True):
        assert hours(row[value]) == pytest.approx(step.value / 3600, rel=0.005)
        assert hours(row[before]) == pytest.approx(step.before / 3600, rel=0.005)
        assert step.value - step.before == pytest.approx(step.change)  # each row fits by itself


def test_a_number_that_misses_the_goal_on_copies_gives_way_to_the_next_that_reached_it(site, monkeypatch):
    """With 5 more nodes the longest wait is an hour; if copies said that it is longer, 6 would be the answer."""
    monkeypatch.setattr("schedlab.site.copies.MOST_JOBS", 12 * 2 * 3)
    value = CapacitySearch.value

    def longer(self, answers):
        found = list(answers)
        return value(self, found) + (60 if len(found) == 3 and found[0].variant.name.startswith("5 more") else 0)

    monkeypatch.setattr(CapacitySearch, "value", longer)
    found = asked(site, "max_wait=1h", copies=None)
    assert found.best.needed == 6
    assert {step.nodes: step.runs for step in found.best.steps} == {1: 1, 2: 1, 4: 1, 5: 3, 6: 3, 8: 1}


def test_progress_counts_all_numbers_and_never_goes_back(site):
    seen = []
    asked(site, "max_wait=1h", ("n1", "g1"), most=8, progress=lambda *told: seen.append(told))
    ended = [done + failed for done, failed, _ in seen]
    assert ended == sorted(ended)
    assert all(total >= done for done, _, total in seen)
    assert seen[0][2] >= 1 + 2 * 4  # the site as it is, and 1, 2, 4 and 8 nodes of both kinds


def test_what_nodes_cost_and_buy_is_computed_from_the_log(tmp_path):
    """30 days: one node at 0.50 an hour costs 360, and saves 8 of 12 hours of waiting: 45 for each."""
    site = site_of_five_jobs(tmp_path, days=30)
    # Waits as it is: 0, 2, 4, 6 and 0 h, 12 in all; with two nodes 0, 0, 2, 2 and 0 h.
    found = asked(site, "max_wait=2h", prices=0.5, currency="EUR")
    assert found.span == 30 * 86_400
    assert found.best.needed == 1
    assert found.best.cost(2) == 720
    assert found.best.decisive.saved == 12 - 4
    first, goal, cost, *_ = found.sentences()
    assert first.endswith("1 more node like n1 would bring the max wait from 6 h to 2 h.")
    assert goal == "The goal is 2 h."
    assert cost == "That costs 360 EUR in 30 days at 0.50 EUR per node-hour."
    bought = "1 more node like n1 saves 8 hours of waiting in 30 days, 8 per node, 45.00 EUR per hour of waiting saved"
    assert bought in str(found)


def test_what_nodes_save_in_a_short_log_is_not_extrapolated_to_a_month(tmp_path):
    """The same jobs within three days: one node saves 8 hours of waiting, and costs 36 meanwhile: 4.50 for each."""
    site = site_of_five_jobs(tmp_path, days=3)
    found = asked(site, "max_wait=2h", prices=0.5, currency="EUR")
    assert found.saved(found.best.decisive) == 8
    assert "saves 8 hours of waiting in the 3 d of the log, 8 per node, 4.50 EUR per hour of waiting saved" in str(
        found
    )
    assert "What nodes save is told of the 3 d of the log, not of a month or a year" in str(found)
    assert "hours of waiting saved in 30 days" not in str(found)
    assert found.to_document()["kinds"][0]["steps"][0]["saved_a_month"] is None
    assert any("costs 360 EUR in 30 days" in one for one in lead_of(found))  # what is paid is known


FEATURES = """ClusterName=lab
NodeName=n1 CPUs=1 Feature=old
NodeName=m1 CPUs=1 Feature=new
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-0
"""


def test_the_first_sentences_say_that_a_constraint_keeps_jobs_from_nodes_and_that_the_log_only_drains(tmp_path):
    """Twelve jobs with a feature that one node has: more of the other node change nothing."""
    (tmp_path / "slurm.conf").write_text(FEATURES)
    rows = "".join(f"{one},3600,3600,1,1,batch,new\n" for one in range(12))
    (tmp_path / "jobs.csv").write_text(HEAD.replace("partition", "partition,constraint") + rows)
    site = import_site(tmp_path / "slurm.conf", tmp_path / "jobs.csv").save(tmp_path / "site")
    first = " ".join(lead_of(asked(site, "mean_wait=2h", most=2)))
    assert "cannot use them, because of their constraint (feature new)" in first
    assert "partition" not in first.partition("change nothing")[2].partition(".")[0]
    assert "100% of the waiting comes after the last submission, while the log only drains" in first


def test_a_tenth_more_work_is_tried_with_the_needed_nodes(site):
    """All jobs come at once: more work in the same time is the same here, and the goal still holds."""
    found = asked(site, "mean_wait=2h")
    assert found.best.with_more_work == 1.5 * 3600
    assert "If 2 more nodes like n1 attracted 10% more work, the mean wait would be 90 min: the goal still" in str(
        found
    )


def test_a_metric_may_be_that_of_a_group_of_jobs(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    rows = [f"0,3600,3600,1,1,{name}\n" for name in ("batch", "batch", "gpu", "gpu", "gpu")]
    (tmp_path / "jobs.csv").write_text(HEAD + "".join(rows))
    site = import_site(tmp_path / "slurm.conf", tmp_path / "jobs.csv").save(tmp_path / "site")
    found = asked(site, "mean_wait=20m", (), of="partition gpu", most=4)  # 0, 1 and 2 h; with two nodes 0, 0, 1 h
    assert (found.before, found.jobs) == (3600, 3)
    assert [(one.kind.name, one.needed) for one in found.kinds] == [("g1", 1), ("n1", None)]
    with pytest.raises(InputError, match="no job belongs to partition gpus"):
        asked(site, "mean_wait=20m", of="partition gpus")


@pytest.mark.parametrize(
    ("text", "of", "message"),
    [
        ("p95_wait", "", "must be written METRIC=VALUE"),
        ("p95_wiat=4h", "", "did you mean p95_wait"),
        ("p95_wait=soon", "", "is not a duration"),
        ("p95_wait=4", "", "goal 'p95_wait=4': '4' is a time without its unit: write 4d, 4h, 4m or 4s"),
        ("utilisation=much", "", "is not a number"),
        ("p95_wait=4h", "gpu", "must be a kind"),
        ("utilisation=0.8", "partition gpu", "is of the whole site"),
    ],
)
def test_goals_that_cannot_be_read_say_how_they_are_written(text, of, message):
    with pytest.raises(InputError, match=message):
        Goal.parse(text, of)


def test_of_a_metric_of_which_more_is_better_the_goal_is_a_least_value():
    goal = Goal.parse("utilisation=80%")
    assert (goal.reached(0.81), goal.reached(0.79)) == (True, False)


def test_a_larger_number_that_is_clearly_worse_is_found(site):
    """Waits are not monotone in the number of nodes (Graham's anomalies): here 2, 1.5 and 1.8 h are said to be seen."""
    found = asked(site, "max_wait=1h", most=4).best
    steps = tuple(replace(step, value=value) for step, value in zip(found.steps, (7200, 5400, 6480), strict=True))
    fewer, more = not_monotone(Goal.parse("max_wait=1h"), replace(found, steps=steps))
    assert (fewer.nodes, more.nodes) == (2, 4)
    assert not_monotone(Goal.parse("max_wait=1h"), found) is None
    assert not_monotone(Goal.parse("utilisation=0.9"), replace(found, steps=steps[:2])) is not None


def test_the_search_doubles_and_then_halves_for_any_threshold():
    for threshold in range(1, 70):
        tried = {}
        while (number := next_number(tried, 64)) is not None:
            tried[number] = number >= threshold
        enough = [number for number, reached in tried.items() if reached]
        assert min(enough, default=None) == (threshold if threshold <= 64 else None)
        assert len(tried) <= 13


@pytest.mark.parametrize("metric", ["mean_wait", "p95_wait"])
def test_no_interval_of_a_change_says_that_waits_fall_by_more_than_they_are(tmp_path, metric):
    """Two bursts of 40 jobs of an hour, and a job on each of the other days: with 64 nodes no job waits any longer."""
    (tmp_path / "slurm.conf").write_text(CONF.replace("MaxTime=1-0", "MaxTime=2-0"))
    days = [0] * 40 + [10] * 40 + [day for day in range(20) if day not in (0, 10)]
    (tmp_path / "jobs.csv").write_text(HEAD + "".join(f"{day * 86_400},3600,3600,1,1,batch\n" for day in sorted(days)))
    site = import_site(tmp_path / "slurm.conf", tmp_path / "jobs.csv").save(tmp_path / "site")
    found = asked(site, f"{metric}=1s")
    step = found.best.decisive
    assert step.value == 0
    assert step.interval[0] == pytest.approx(-found.before)
    every = next(effect for effect in step.effects if effect.kind == "all")
    assert every.interval[0] == pytest.approx(-every.before)


def test_copies_are_simulated_as_what_if_does_and_the_answer_says_so_in_the_same_words(site):
    """Each of the twelve jobs comes up to a second later, so no mean wait is another one by more than a second."""
    found = asked(site, "mean_wait=2h", copies=None)
    step = found.best.decisive
    assert (found.copies, found.best.needed) == (3, 2)
    assert found.before == pytest.approx(5.5 * 3600, abs=1)
    assert step.copies == pytest.approx((-4 * 3600, -4 * 3600), abs=1)
    assert step.saved == pytest.approx(12 * 4, abs=0.01)
    assert "copies: " in found.sentences()[1]
    assert any(told.startswith("Both sides were simulated 3 times") for told in found.sentences())
    single = asked(site, "mean_wait=2h", copies=1)
    assert single.best.decisive.copies is None
    assert any("simulated once" in told and "--copies 3 tells" in told for told in single.sentences())


MANY = """ClusterName=lab
TopologyPlugin=topology/tree
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=DEFAULT RealMemory=1000 Sockets=2 CoresPerSocket=4
NodeName=n[01-02] Feature=old
NodeName=DEFAULT CPUs=16 CoresPerSocket=8 Weight=9
NodeName=g[1-2],g5 Gres=gpu:2 NodeAddr=10.0.0.[1-3]
NodeName=n03 CPUs=8 CoresPerSocket=4 Weight=1 Feature=old
PartitionName=batch Nodes=n[01-03],g1
PartitionName=gpu Nodes=g[1-2],g5
PartitionName=all Nodes=ALL
"""


@pytest.fixture
def kinds(tmp_path):
    (tmp_path / "slurm.conf").write_text(MANY)
    (tmp_path / "gres.conf").write_text("NodeName=g[1-2],g5 Name=gpu Type=a100 Count=2\n")
    (tmp_path / "topology.conf").write_text(
        "SwitchName=s1 Nodes=n[01-04]\nSwitchName=s2 Nodes=g[1-2],g5\nSwitchName=top Switches=s[1-2]\n"
    )
    return import_site(tmp_path)


def test_lines_whose_nodes_are_alike_are_one_kind(kinds):
    assert [(one.lines, one.partitions) for one in node_kinds(kinds)] == [
        (("n[01-02]", "n03"), ("batch", "all")),
        (("g[1-2],g5",), ("gpu", "all")),
    ]


def test_new_nodes_are_like_those_of_the_line_whatever_the_defaults_behind_it(kinds):
    for kind in node_kinds(kinds):
        check_kind(kinds, kind)  # cores, memory, GPUs with their type, features, weight, switch
    old, gpu = (more_nodes(kinds, kind, 2) for kind in node_kinds(kinds))
    assert old[0].startswith("NodeName=n[04-05] ")
    assert old[1:] == ("PartitionName=batch Nodes=n[01-03],g1,n[04-05]", "SwitchName=s1 Nodes=n[01-04],n05")
    assert gpu[0].startswith("NodeName=g[6-7] ")
    assert "gres=gpu:a100:2" in gpu[0]
    assert "nodeaddr" not in gpu[0]


def test_names_of_nodes_that_are_to_come_stay_on_the_line_of_a_switch_that_gets_more(tmp_path):
    """Slurm permits that topology.conf names nodes that do not exist; n04 is to be on the other switch."""
    (tmp_path / "slurm.conf").write_text(MANY)
    (tmp_path / "topology.conf").write_text(
        "SwitchName=s1 Nodes=n[01-03],n[06-20]\nSwitchName=s2 Nodes=n04,g[1-2],g[5-8]\nSwitchName=top Switches=s[1-2]\n"
    )
    site = import_site(tmp_path)
    old, gpu = node_kinds(site)
    check_kind(site, gpu)
    assert more_nodes(site, old, 2)[-1] == "SwitchName=s1 Nodes=n[01-03],n[06-20],n05"
    for asked_for, at in (
        ("3 more nodes like n[01-02]", "n[01-03],n[05-07]"),
        ("1 more node like g5", "g[1-2],g[5-6]"),
    ):
        cluster = changed(site, [asked_for]).cluster
        new = set(cluster.nodes) - set(site.cluster.nodes)
        (switch,) = {group.switch for group in cluster.groups if new & set(group.names)}
        assert {n for group in cluster.groups if group.switch == switch for n in group.names} == set(host_names(at))
    with pytest.raises(InputError, match="there is no node 'n21'"):  # a slip is still one
        changed(site, ["SwitchName=s1 Nodes=n[01-03],n21"])


def test_nodes_are_named_by_some_of_a_line_and_join_the_partitions_that_are_named(kinds):
    (kind,) = node_kinds(kinds, ["g1"], ["gpu"])
    assert (kind.name, kind.partitions) == ("g[1-2],g5", ("gpu",))
    assert new_names("g5", {"g6"}, 2) == ["g7", "g8"]
    for names, partitions, message in (
        (["m1"], [], "no line of the site has the nodes m1"),
        (["n01,g1"], [], "no line of the site has"),
        (["g1"], ["gpus"], "did you mean gpu"),
    ):
        with pytest.raises(InputError, match=message):
            node_kinds(kinds, names, partitions)


def run(capsys, monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["schedlab", "site", "capacity", *map(str, words)])
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    return code, *capsys.readouterr()


def test_the_program_prints_the_answer_as_json_and_writes_the_page(site, tmp_path, capsys, monkeypatch):
    page = tmp_path / "nodes.html"
    words = [site, "--until", "mean_wait=2h", "--most", 4, "--price", 0.9, "--price", "g1=4", "-j", 1, "--report", page]
    code, out, _ = run(capsys, monkeypatch, *words, "--json")
    told = json.loads(out)
    assert (code, [one["needed"] for one in told["kinds"]]) == (0, [2, None])
    assert [one["price"] for one in told["kinds"]] == [0.9, 4]
    assert told["kinds"][0]["steps"][-1]["variant"]["changes"][1] == "PartitionName=batch Nodes=n1,n[2-3]"
    assert told["sentences"][0].startswith("A twin that cannot be calibrated says: ")
    text = page.read_text(encoding="utf-8")
    assert "2 more nodes like n1 would bring the mean wait from 5.5 h to 90 min" in re.sub("<[^>]+>", "", text)
    assert "By the number of nodes" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--price", "cheap"], "must be a number"),
        (["--price", "1", "--price", "2"], "given twice"),
        (["--node", "x1"], "no line of the site has the nodes x1"),
        (["--node", "n1", "--price", "g1=4"], "a price of g1 is given, but no such nodes are added"),
        (["--report", "page.pdf"], "unknown suffix"),
        ([], "give --until, such as p95_wait=4h, to ask how many nodes are needed, or --add"),
        (["--add", "2", "--until", "mean_wait=2h"], "--until and --add are both given"),
        (["--add", "2", "--most", "4"], "--most bounds what --until tries"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_sentence(site, capsys, monkeypatch, words, message):
    until = [] if "--add" in words or not words else ["--until", "mean_wait=2h"]
    code, _, err = run(capsys, monkeypatch, site, *until, "-j", 1, *words)
    assert code == 1
    assert message in err
    assert err.count("\n") == 1
