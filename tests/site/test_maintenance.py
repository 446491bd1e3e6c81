"""When to drain for a maintenance: core-hours, delays and who pays, computed by hand."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from schedlab.cli.app import app
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.errors import InputError
from schedlab.report.maintenance import plot_begins, render_maintenance
from schedlab.site import MaintenancePlan, Sweep, maintenance, what_if
from schedlab.site.ledger import Ledger
from schedlab.site.maintenance_costs import Chance, chance_between
from schedlab.site.maintenance_plan import possible_begins
from schedlab.site.maintenance_text import lead_of
from schedlab.site.site import Settings, Site
from schedlab.site.who_pays import payers_text
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

HOUR, DAY, WEEK = 3600, 86_400, 604_800
CLUSTER = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=1)], [Partition("batch", default=True)], name="lab")


def site_of(batches: int, start: datetime | None = None) -> Site:
    """Return a site of two cores that is always full: every six hours come two jobs of one core and six hours."""
    submit = [6 * HOUR * number for number in range(batches) for _ in range(2)]
    count = len(submit)
    columns = {"submit_time": submit, "run_time": [6 * HOUR] * count, "requested_time": [6 * HOUR] * count}
    columns |= {"requested_processors": [1] * count, "user_id": [1, 2] * batches}
    when = None if start is None else int(start.timestamp())
    asked = Resources.of(count, partition=["batch"] * count)
    jobs = Workload.from_columns(columns, name="lab", processors=2, resources=asked, start_time=when)
    return Site(CLUSTER, jobs, Settings("fcfs+easy"), Ledger())


@pytest.fixture
def sweep(tmp_path):
    """Three days: batches at 0, 6, ..., 66 h."""
    return Sweep(site_of(12).save(tmp_path / "site"))


def costs(found):
    return {one.begin.second // HOUR: one for slot in found.slots for one in slot.costs}


def test_what_idles_before_a_maintenance_and_who_starts_later_is_counted_to_the_hour(sweep):
    found = maintenance(sweep, MaintenancePlan(hours=4, window=DAY, every=2 * HOUR), copies=1, workers=1)
    at = costs(found)
    # It has to end before the last submission, at 66 h; the day before 62 h has these begins.
    assert sorted(at) == [40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62]
    # At 44 h the batch of 42 h, which would run until 48 h, does not start: two cores idle for two hours.
    assert at[44].drained == 4.0
    assert at[46].drained == 8.0
    assert [at[hour].drained for hour in (42, 48, 54, 60)] == [0.0] * 4
    assert found.closed == 8.0
    assert {one.put_off for one in at.values()} == {8.0}
    # It starts at 48 h, six hours later, and so do the batches of 48, 54, 60 and 66 h: ten jobs.
    assert (at[44].moved, at[44].moved_hours, at[44].earlier) == (10, 60.0, 0)
    # After 42 to 46 h, the same five batches start four hours later.
    assert (at[42].moved, at[42].moved_hours) == (10, 40.0)
    # It is announced at 28 h, 16 h before: of the six jobs that came then and before 48 h, two wait for six hours.
    assert (at[44].mean_wait, at[44].p95_wait) == (2 * 6 * HOUR / 6, 6 * HOUR)
    # Least idle first; of those, the fewest hours of delay: at 60 h only the last two batches are late.
    assert found.best.costs[0].begin.second == 60 * HOUR
    assert found.slots[-1].drained == 8.0
    assert [(one.group, one.jobs, one.hours, one.share) for one in found.payers_of("user")] == [
        ("user 1", 2, 8.0, 0.5),
        ("user 2", 2, 8.0, 0.5),
    ]


def test_a_job_that_has_its_node_alone_lets_all_of_its_cores_idle(tmp_path):
    """The same jobs of one core on nodes of three, each with its node to itself: three times the core-hours."""
    site = site_of(12)
    asked = Resources.of(24, partition=["batch"] * 24, exclusive=[True] * 24)
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=3)], [Partition("batch", default=True)], name="lab")
    site = replace(site, machine=cluster, jobs=site.jobs.replace(resources=asked, processors=6))
    found = maintenance(
        Sweep(site.save(tmp_path / "site")), MaintenancePlan(hours=4, window=DAY, at=("20:00",)), copies=1, workers=1
    )
    assert (costs(found)[44].drained, costs(found)[44].put_off, found.closed) == (12.0, 24.0, 24.0)


def test_a_maintenance_of_one_node_leaves_the_other_alone(sweep):
    plan = MaintenancePlan(hours=4, window=DAY, every=2 * HOUR, nodes=("n2",))
    found = maintenance(sweep, plan, copies=1, workers=1)
    assert (found.cores, found.closed) == (1, 4.0)
    assert (costs(found)[44].drained, costs(found)[44].put_off) == (2.0, 4.0)


def test_jobs_that_began_before_the_announcement_run_on_and_are_told(sweep):
    plan = MaintenancePlan(hours=4, notice=HOUR, window=DAY, at=("20:00",))
    found = maintenance(sweep, plan, copies=1, workers=1)
    (only,) = found.slots
    assert [one.begin.second for one in only.costs] == [44 * HOUR]
    # The batch of 42 h runs until 48 h, when the maintenance is over.
    assert (only.drained, only.costs[0].put_off, only.costs[0].moved, only.costs[0].outlasting) == (0.0, 0.0, 0, 2)
    first, how, *_ = lead_of(found)
    assert first.endswith(
        "day 2, 20:00 was asked, but with a notice of 60 min it is no drain, as 2 jobs would still run then."
    )
    assert how == "Jobs may run for 6 h: announce it as long before (--notice 6h), or end those that still run."
    text = str(found)
    assert "No job starts later." in text
    assert "Up to 2 jobs that began before the announcement would still run" in text
    # Announced six hours before, the batch of 42 h does not start, and nothing runs at 44 h.
    longer = maintenance(sweep, replace(plan, notice=6 * HOUR), copies=1, workers=1)
    assert longer.still_running == 0
    assert "drain for day 2, 20:00" in lead_of(longer)[0]


def test_of_some_nodes_it_is_not_known_whether_jobs_that_still_run_are_on_them(sweep):
    plan = MaintenancePlan(hours=4, notice=HOUR, window=DAY, at=("20:00",), nodes=("n2",))
    found = maintenance(sweep, plan, copies=1, workers=1)
    assert "no drain" not in " ".join(lead_of(found))
    told = "Up to 2 jobs that began before the announcement would still run when it begins, on any nodes."
    assert any(one.startswith(told) for one in found.sentences())


def test_a_notice_that_a_log_cannot_have_is_asked_for_with_a_word_on_the_log(tmp_path):
    """Jobs may run for four days in a log of 66 h: no begin can be announced as long before."""
    site = site_of(12)
    jobs = site.jobs.replace(requested_time=[4 * DAY] * 24)
    sweep = Sweep(replace(site, jobs=jobs).save(tmp_path / "site"))
    found = maintenance(sweep, MaintenancePlan(hours=4, notice=HOUR, at=("20:00",)), copies=1, workers=1)
    assert found.still_running == 2
    assert lead_of(found)[1] == (
        "Jobs may run for 4 d: announce it as long before (--notice 4d), or end those that still run; to tell what "
        "that costs, this log is too short."
    )


def test_the_first_sentence_has_the_calibration_the_best_and_the_worst_begin(sweep):
    found = maintenance(sweep, MaintenancePlan(hours=4, window=DAY, every=2 * HOUR), copies=1, workers=1)
    first, *others = lead_of(found)
    assert first == (
        "A twin that cannot be calibrated says: fewest core-hours idle before day 3, 12:00, but a log of 2.75 d cannot "
        "tell for which day to drain."
    )
    week = lead_of(replace(found, span=WEEK))[0]
    assert week == "A twin that cannot be calibrated says: drain for day 3, 12:00, as fewest core-hours idle then."
    assert others[0] == "0 core-hours idle before it, beyond the 8 of the maintenance itself."
    assert others[1] == "4 jobs start later, by 4 h on average."
    assert "lets 8 core-hours idle" in others[2]
    assert "cannot be told from a single week" in others[3]
    assert "Users submit what and when they did" in " ".join(found.sentences())


def test_one_begin_is_recommended_with_its_reason_and_what_the_other_ranking_says(sweep):
    """At 12:00 of day 2 nothing idles, at 16:00 of day 3 four core-hours do, and fewer jobs come after it."""
    found = maintenance(sweep, MaintenancePlan(hours=4, window=DAY, at=("16:00", "12:00")), copies=1, workers=1)
    names = [one.name for one in found.slots]
    cheap, quick = found.slots[0].costs[0], replace(found.slots[1].costs[0], moved_hours=8.0)
    cheap = replace(cheap, moved=10, moved_hours=50.0, earlier=3, mean_wait=1740.0, drained=2.0, in_copies=(2.0,))
    slots = [replace(one, costs=(cost,)) for one, cost in zip(found.slots, (cheap, quick), strict=True)]
    told = replace(found, slots=tuple(slots)).sentences()
    assert f"fewest core-hours idle before {names[0]}, but" in told[0]
    assert told[1].startswith("2 core-hours idle before it")
    assert told[2] == "10 jobs start later, by 5 h on average, and 3 earlier (the mean wait changes by +29 min)."
    assert (
        f"if waits matter more to you than idle nodes, take {names[1]}: that adds 8 hours of waiting "
        f"instead of 50, but {quick.drained:,.0f} core-hours idle." in " ".join(told).replace("If waits", "if waits")
    )
    assert any("With a shorter notice fewer do, and more jobs still run when it begins" in one for one in told)


def test_begins_as_good_as_the_best_one_are_named_with_what_they_make_jobs_wait(sweep):
    found = maintenance(
        sweep, MaintenancePlan(hours=4, window=DAY, at=("16:00", "12:00", "14:00")), copies=1, workers=1
    )
    drained, moved = (2.0, 4.0, 40.0), (50.0, 8.0, 9.0)
    slots = [
        replace(slot, costs=(replace(slot.costs[0], drained=idle, in_copies=(idle,), moved_hours=hours),))
        for slot, idle, hours in zip(found.slots, drained, moved, strict=True)
    ]
    told = replace(found, slots=tuple(slots), chance=Chance(5.0, None)).sentences()
    best, near = slots[0].name, slots[1].name
    sentence = f"cannot be told from {best}, which adds 50 hours of waiting: {near} (8 hours)."
    assert f"1 of the 2 other begins {sentence}" in told


def test_the_same_hour_of_several_weeks_is_one_begin_with_a_range(tmp_path):
    """Three weeks from Monday, June 1, 2026: batches of 06:00 leave two cores idle until 08:00."""
    monday = datetime(2026, 6, 1, tzinfo=UTC)
    sweep = Sweep(site_of(4 * 22, monday).save(tmp_path / "site"))
    plan = MaintenancePlan(hours=4, window=2 * WEEK, at=("Tue 08:00", "fri 06:00"))
    found = maintenance(sweep, plan, copies=1, workers=1)
    assert [(one.name, len(one.costs)) for one in found.slots] == [("Friday 06:00", 2), ("Tuesday 08:00", 2)]
    friday, tuesday = found.slots
    assert (friday.range, tuesday.range) == ((0.0, 0.0), (4.0, 4.0))
    assert [one.begin.name for one in friday.costs] == ["Friday 2026-06-12 06:00", "Friday 2026-06-19 06:00"]
    # The same in both weeks: nothing is left to chance.
    assert found.chance == (0.0, None)
    assert "Differences below 0 core-hours are chance between weeks." in lead_of(found)
    told = "In 2 weeks of the log (Friday 2026-06-12 06:00 and Friday 2026-06-19 06:00), 0 to 0 core-hours idled"
    assert told in str(found)
    # Replayed from a week before the first announcement: June 9, 08:00, less a week and a half, is before the log.
    assert found.sample.text == "the log"


def test_bars_have_points_only_where_there_are_several_weeks(tmp_path):
    sweep = Sweep(site_of(4 * 22, datetime(2026, 6, 1, tzinfo=UTC)).save(tmp_path / "site"))
    for at, points in ((("Tue 08:00",), True), (("2026-06-16 08:00",), False)):
        found = maintenance(sweep, MaintenancePlan(hours=4, window=2 * WEEK, at=at), copies=1, workers=1)
        assert all(bool(axes.lines) is points for axes in plot_begins(found).axes)
        assert ("a point for each week" in render_maintenance(sweep, found)) is points


def test_a_single_week_has_begins_with_their_dates_and_a_notice_that_fits_the_log(tmp_path):
    """Five days from Monday, June 1, 2026: a quarter of 114 h is 28 h, in whole hours."""
    sweep = Sweep(site_of(4 * 5, datetime(2026, 6, 1, tzinfo=UTC)).save(tmp_path / "site"))
    found = maintenance(sweep, MaintenancePlan(hours=4, every=12 * HOUR), copies=1, workers=1)
    assert found.plan.notice == 28 * HOUR
    assert sorted(one.name for one in found.slots)[:2] == ["Friday 2026-06-05 00:00", "Friday 2026-06-05 12:00"]
    assert min(one.costs[0].begin.second for one in found.slots) == 36 * HOUR
    # 12:00 of Monday and 0:00 of Tuesday would be announced before midnight of Monday.
    assert found.left_out == (2, 0, True)
    text = str(found)
    assert "The log is short (4.75 d): the maintenance is announced 28 h before its begin, and not a week" in text
    assert "2 begins of the window are left out: when they would be announced (28 h before), the log had not" in text
    assert "Times of day are UTC." in text
    assert "one event in it can decide" in text


def test_a_notice_that_is_longer_than_the_log_is_refused_with_what_to_do(sweep):
    with pytest.raises(InputError, match=r"all would be announced, 7 d before, when the log had not begun.*--notice"):
        possible_begins(MaintenancePlan(notice=WEEK), sweep.jobs)
    begins, too_early = possible_begins(MaintenancePlan(hours=4, notice=2 * DAY, every=6 * HOUR), sweep.jobs)
    assert [one.second // HOUR for one in begins] == [48, 54, 60]
    assert too_early == 7


def test_a_log_without_dates_says_that_no_time_of_day_is_known(sweep):
    found = maintenance(sweep, MaintenancePlan(hours=4, every=DAY), copies=1, workers=1)
    assert [one.name for one in found.slots] == ["day 3, 00:00", "day 2, 00:00"]
    assert "The log has no dates: days and hours count from its second 0" in str(found)
    assert "UTC" not in str(found)


def interrupt_after(number):
    def tell(done, failed, total):
        if done >= number + 1:  # the site as it is counts, too
            raise KeyboardInterrupt

    return tell


def test_an_interrupted_comparison_has_the_begins_until_then_from_all_of_the_window_and_goes_on(sweep):
    plan = MaintenancePlan(hours=4, window=DAY, every=2 * HOUR)
    found = maintenance(sweep, plan, copies=1, workers=1, progress=interrupt_after(3))
    assert sorted(costs(found)) == [40, 48, 56]  # every fourth of 40, 42, ..., 62
    assert found.left_out.interrupted == 9
    first, *others = found.sentences()
    assert (
        "of the 3 of 12 begins that were simulated before the interruption, fewest core-hours idle before day 3, 00:00"
        in first
    )
    assert "9 begins were not simulated: ask again, and only the missing ones are run." in others
    seen = []
    whole = maintenance(sweep, plan, copies=1, workers=1, progress=lambda done, failed, total: seen.append(done))
    assert len(seen) == 9
    assert whole.left_out.interrupted == 0
    assert len(costs(whole)) == 12


def test_an_interrupted_verb_says_that_it_was_and_that_the_same_command_goes_on(sweep, capsys, monkeypatch):
    monkeypatch.setattr("schedlab.cli.site_maintenance.campaign_bar", lambda: nullcontext(interrupt_after(2)))
    words = ["site", "maintenance", str(sweep.directory), "--hours", "4", "--window", "1d", "--every", "2h", "-j", "1"]
    app([*words, "--copies", "1"], standalone_mode=False)
    out, err = capsys.readouterr()
    assert "interrupted: 2 of 12 begins compared" in err
    assert "the same command goes on with the others" in err
    assert "of the 2 of 12 begins that were simulated before the interruption" in out


@pytest.mark.parametrize("copies", [1, 2])
def test_of_an_interrupted_comparison_with_one_begin_nothing_is_chance(sweep, copies):
    plan = MaintenancePlan(hours=4, window=DAY, every=2 * HOUR)
    found = maintenance(sweep, plan, copies=copies, workers=1, progress=interrupt_after(2 * copies - 1))
    assert len(costs(found)) == 1
    assert found.chance == (None, None)
    assert "of the 1 of 12 begins that were simulated before the interruption" in str(found)
    assert "How much of that is chance cannot be told from a single week." in found.sentences()


def test_an_interruption_before_the_first_begin_leaves_nothing_to_compare(sweep, monkeypatch):
    ran = Sweep.run

    def stopped(self, variants, *args, **options):
        if list(variants):
            raise KeyboardInterrupt
        return ran(self, variants, *args, **options)

    monkeypatch.setattr(Sweep, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        maintenance(sweep, MaintenancePlan(hours=4, window=DAY), copies=1, workers=1)


def test_a_begin_is_simulated_on_copies_whose_maintenance_comes_as_much_later_as_their_jobs(sweep):
    """The batch of 42 h idles two cores for two hours, whichever second the log begins at; jobs come a second later."""
    found = maintenance(sweep, MaintenancePlan(hours=4, window=DAY, every=2 * HOUR), workers=1)
    at = costs(found)
    assert found.copies == len(at[44].in_copies) == 3
    assert at[44].in_copies == pytest.approx([4.0] * 3, abs=0.01)
    assert (at[44].moved, at[44].moved_hours) == pytest.approx((10, 60.0), abs=0.01)
    assert at[44].mean_wait == pytest.approx(2 * 6 * HOUR / 6, abs=2)
    assert [one.jobs for one in found.payers_of("user")] == [2, 2]
    # At 48 h the batch of 42 h ends in time as recorded; a second later it does not, and two cores idle for six hours.
    assert at[48].in_copies == pytest.approx((0.0, 12.0, 12.0), abs=0.01)
    assert found.chance.weeks is None
    assert found.chance.copies > 0
    assert "are chance of some seconds; how much is chance between weeks cannot be told from a single week" in str(
        found
    )
    assert "Both sides were simulated 3 times" in str(found)


def test_chance_between_weeks_is_tukeys_difference():
    """Rest by hand: +1, -1, -1, +1; mean square 4 with one degree of freedom; q(0.95; 2, 1) = 17.97 in tables."""
    assert chance_between([[0.0, 0.0], [4.0, 8.0]]) == pytest.approx(17.97 * (4 / 2) ** 0.5, rel=1e-3)
    assert chance_between([[0.0, 1.0], [2.0]]) is None
    assert chance_between([[0.0, 1.0]]) is None
    assert Chance(3.0, 4.0).least == 5.0  # in quadrature
    assert (Chance(None, 4.0).least, Chance(None, None).least) == (4.0, None)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"hours": 0}, "more than 0"),
        ({"notice": -1}, "0 seconds or more"),
        ({"window": HOUR}, "a day or more"),
        ({"every": 5 * HOUR}, "a whole number"),
        ({"at": ("noon",)}, "HH:MM"),
        ({"at": ("T 06:00",)}, "HH:MM"),
        ({"at": ("25:00",)}, "HH:MM"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        MaintenancePlan(**given)


def test_what_the_site_or_the_log_lacks_is_refused_before_anything_is_simulated(sweep):
    with pytest.raises(InputError, match=r"no node 'n11' \(did you mean n1\?\); it has n\[1-2\]"):
        maintenance(sweep, MaintenancePlan(nodes=("n11",)))
    with pytest.raises(InputError, match="no dates"):
        possible_begins(MaintenancePlan(at=("Tue 06:00",)), sweep.jobs)
    with pytest.raises(InputError, match=r"^no begin of a maintenance of 100 h"):
        maintenance(sweep, MaintenancePlan(hours=100))
    with pytest.raises(InputError, match="--processors-only"):
        maintenance(Sweep(sweep.directory, nodes=False), MaintenancePlan())


def test_a_begin_is_asked_for_alone_by_the_name_that_an_answer_gives_it(sweep, tmp_path):
    """Day 2, 20:00 of a log without dates is its hour 44, as Tuesday, June 2, 2026, 20:00 of one from Monday on."""
    begins = possible_begins(MaintenancePlan(hours=4, window=DAY, every=2 * HOUR), sweep.jobs).begins
    (name,) = [one.name for one in begins if one.second == 44 * HOUR]
    for text in (name, "day 2 20:00"):
        alone = possible_begins(MaintenancePlan(hours=4, window=DAY, at=(text,)), sweep.jobs).begins
        assert [one.second for one in alone] == [44 * HOUR]
    dated = site_of(12, datetime(2026, 6, 1, tzinfo=UTC)).jobs
    for text in ("Tuesday 2026-06-02 20:00", "2026-06-02 20:00"):
        (only,) = possible_begins(MaintenancePlan(hours=4, window=DAY, at=(text,)), dated).begins
        assert (only.second, only.name) == (44 * HOUR, "Tuesday 2026-06-02 20:00")
    for text, jobs, said in (
        ("day 2, 20:00", dated, "the jobs have dates"),
        ("2026-06-02 20:00", sweep.jobs, "no dates"),
    ):
        with pytest.raises(InputError, match=said):
            possible_begins(MaintenancePlan(at=(text,)), jobs)


def test_who_surely_waits_longer_is_told_as_a_what_if_of_the_same_closure_tells_it(tmp_path):
    """Of three weeks that are always full, all jobs after the maintenance of the second Tuesday are six hours late."""
    site = site_of(4 * 22, datetime(2026, 6, 1, tzinfo=UTC)).save(tmp_path / "site")
    found = maintenance(Sweep(site), MaintenancePlan(hours=4, at=("2026-06-09 08:00",)), copies=1, workers=1)
    told = next(one for one in found.sentences() if one.startswith("Told as what-if does"))
    assert told.startswith(
        "Told as what-if does, with the begin Tuesday 2026-06-09 08:00, waits become longer for user "
    )
    sample, closed = found.sample, found.plan.events(8 * DAY + 8 * HOUR, ("n1", "n2"))
    asked = what_if(site, node_events=closed, samples=[sample], copies=1, workers=1, nodes=True)
    assert payers_text(asked.ranking.best.effects) in told


def test_the_verb_prints_and_stores_what_it_has_simulated(sweep, tmp_path, capsys):
    page = tmp_path / "page.html"
    words = ["site", "maintenance", str(sweep.directory), "--hours", "4", "--window", "1d", "--every", "12h", "-j", "1"]
    app([*words, "--partition", "batch", "--report", str(page)], standalone_mode=False)
    out, err = capsys.readouterr()
    assert "fewest core-hours idle before" in out
    assert "2 begins to simulate, from day 3, 00:00 to day 3, 12:00; Ctrl-C ends it" in err
    text = page.read_text()
    assert "Core-hours idle before it" in text
    assert "Who pays at" in text
    app([*words, "--json"], standalone_mode=False)
    document = json.loads(capsys.readouterr().out)
    assert document["sentences"][0].startswith("A twin that ")
    assert document["maintenance"]["closed"] == 8.0
    assert document["calibration"]["state"] == "cannot be calibrated"
    found = maintenance(sweep, MaintenancePlan(hours=4, window=DAY, every=12 * HOUR), copies=1, workers=1)
    assert [one["begin"] for one in document["begins"]] == [one.name for one in found.slots]
    assert render_maintenance(sweep, found).count("day 3, 00:00")
