"""What an answer begins with, and the table below it: each variant, how sure, who pays, what is left out."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.errors import InputError
from schedlab.report.variants import by_group, render_ranking
from schedlab.site import import_site
from schedlab.site.affected import Affected, whose_lost
from schedlab.site.change_text import change_texts, of_same_work
from schedlab.site.effect_bounds import EffectBounds
from schedlab.site.effect_texts import effects_text
from schedlab.site.effects import Effect
from schedlab.site.far_longer import FarLonger
from schedlab.site.headline import details_of, much_longer
from schedlab.site.lost_work import LostWork
from schedlab.site.ranked_variant import RankedVariant
from schedlab.site.sweep import Sweep
from schedlab.site.tuning import search_parameters
from schedlab.site.undecided import undecided_texts
from schedlab.site.unusable import Unusable
from schedlab.site.variants import Variant
from schedlab.site.wait_text import wait_text, waits_texts
from schedlab.site.what_if import what_if
from schedlab.site.who_pays import open_text

CONF = """ClusterName=lab
SchedulerParameters=bf_interval=60,bf_continue,max_script_size=1048576
SelectTypeParameters=CR_CPU,CR_CORE_DEFAULT_DIST_BLOCK
ResumeTimeout=600
NodeName=n[1-2] CPUs=4
PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=1-0
"""
MORE = "4 more nodes like n[1-2]"
SHORT = "PartitionName=batch MaxTime=1:00:00"


@pytest.fixture
def directory(tmp_path):
    """A day of 120 jobs, one in five of which runs for three hours; they wait for one another."""
    (tmp_path / "slurm.conf").write_text(CONF)
    rng = np.random.default_rng(2)
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for number in range(120):
        begin = np.datetime64("2026-04-01", "s") + 720 * number + int(rng.integers(0, 600))
        length = 10_800 if number % 5 == 0 else int(rng.integers(600, 3000))
        user = ("ann", "bob")[number % 2]
        lines.append(f"{number + 1}|{user}|COMPLETED|{begin}|{begin}|{begin + length}|240|{number % 4 + 1}|batch")
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    return import_site(tmp_path, tmp_path / "jobs.txt").save(tmp_path / "site")


def ask(directory, *changes):
    return what_if(directory, [MORE], variants=[Variant.of([change]) for change in changes], workers=1)


def row(text: str, name: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"{name}  "))
    return [part.strip() for part in re.split(r"  +", line) if part.strip()]


def test_the_first_sentences_speak_of_each_of_a_few_variants(directory):
    found = ask(directory, "SchedulerParameters.bf_interval=30", "SchedulerParameters.bf_interval=600").ranking
    first, sure, *others = found.lead
    says = "A twin that has not been calibrated says: the best of 3 variants, "
    assert first.startswith(f"{says}{MORE}, would shorten the mean wait from ")
    assert re.fullmatch(r"That is .* shorter \(95 % interval: .* shorter; copies: .* shorter\)\.", sure)
    assert sum("bf_interval=30 " in one for one in others) == sum("bf_interval=600 " in one for one in others) == 1
    assert f"Under {MORE}, no group of jobs surely waits longer." in others
    assert "No job is left out." in others
    assert all(len(one.split()) <= 30 for one in found.lead)
    told = [one for one in found.sentences()[len(found.lead) :] if one.startswith("bf_interval=")]
    assert [one.partition(":")[0] for one in told] == [one.variant.name for one in found.changed[1:]]
    assert all(" shorter and " in one or " to " in one for one in told)  # with the interval


def test_what_follows_the_sentence_of_a_variant_names_it_again_as_a_line_may_be_read_alone():
    users = Effect("user", "user049", 951, 64_800.0, 9360.0, None)
    one = ranked("PartitionName=batch MaxTime=2-0", Effect("all", "all", 900, 60.0, 50.0, (-20.0, 9.0)))
    one.effects, one.far = (*one.effects, users), FarLonger(2, 3, (), 172_800.0, 86_400.0)
    one.difference = ("-10 s", "", "cannot be told")
    assert details_of(one, "MaxTime=2-0") == [
        "Under MaxTime=2-0, 3 jobs gain a day or more; the longest wait goes from 2 d to 1 d.",
        "Under MaxTime=2-0, these waits change most in sum, perhaps by chance: user049 (951 jobs, -15.4 h each).",
    ]


def test_of_many_variants_it_speaks_of_the_best_and_counts_the_others(directory):
    values = (30, 45, 90, 120, 600)
    lead = ask(directory, *(f"SchedulerParameters.bf_interval={one}" for one in values)).ranking.lead
    assert f"the best of 6 variants, {MORE}, would shorten the mean wait from " in lead[0]
    assert not any("bf_interval" in one for one in lead)
    (others,) = [one for one in lead if one.startswith("Of the others, ")]
    counts = re.findall(r"(\d+) (?:surely|cannot|does? less|changes?)", others)
    assert sum(map(int, counts)) == 5


def test_the_best_of_variants_that_may_all_be_chance_is_not_praised(directory):
    """With nothing sure, there is no number but the ends of what is possible, and no best one."""
    values = (55, 65)
    found = what_if(directory, variants=[Variant.of([f"SchedulerParameters.bf_interval={one}"]) for one in values])
    assert not any(one.difference[2] == "wins" for one in found.ranking.ranked)
    lead, others = found.ranking.lead, found.sentences()[len(found.ranking.lead) :]
    assert lead[0].endswith(": whether either of 2 variants shortens the mean wait cannot be told from this log.")
    today = row(str(found), "as it is")[1]
    goes = f"the mean wait of {today} becomes anything between "
    told = [f"Under {one.variant.name}, {goes}" for one in found.ranking.changed]
    (best,) = [text for text in told if lead[1].startswith(text)]
    (other,) = [one.variant.name for one in found.ranking.changed if one.variant.name not in best]
    assert lead[2].startswith("Its simulated copies came out ")
    assert lead[3] == f"What is known of {other} follows below."
    assert not any(one.startswith(text) for text in told if text != best for one in lead)
    assert "The best first" not in render_ranking(found.sweep, found.ranking)
    assert lead[4:6] == ["No group of jobs surely waits longer.", "Leave the site as it is until a longer log tells."]
    assert not any("some of its advantage is chance" in told for told in others)
    assert "leave it as it is" not in " ".join(others)  # it is said once
    assert not any("No group of jobs surely waits longer" in one for one in others)  # so is this
    # Where the first sentences are of another metric, they do not say who pays under each, so what follows does.
    by_p95 = replace(found.ranking, metric="p95_wait")
    for one in by_p95.changed:
        (own,) = [text for text in by_p95.sentences() if text.startswith(f"{one.variant.name}: ")]
        assert "No group of jobs surely waits longer" in own


NONE = FarLonger(0, 0, (), 0, 0)


def ranked(change: str, every: Effect, far: FarLonger = NONE, use: Unusable | None = None):
    """What `undecided_texts` reads of a variant."""
    return SimpleNamespace(
        variant=Variant.of([change]), effects=(every,), far=far, bounds=EffectBounds(unusable=use), unchanged=False
    )


def test_the_wait_of_today_is_in_the_unit_of_the_table(directory):
    """130 minutes are 2.17 h beside the 3 h of other variants, in the sentence as in the table."""
    found = ask(directory, "SchedulerParameters.bf_interval=65").ranking
    minutes = {"as it is": (130, 130), MORE: (118, 130), "bf_interval=65": (180, 130)}
    wide = Effect("all", "all jobs", 120, 7800.0, 7080.0, (-3600.0, 3600.0))
    ranked = tuple(
        replace(
            one,
            mean_wait=60.0 * minutes[one.variant.name][0],
            mean_wait_before=60.0 * minutes[one.variant.name][1],
            effects=(wide,) if one.effects else (),
        )
        for one in found.ranked
    )
    told = replace(found, ranked=ranked)
    assert any("the mean wait of 2.17 h becomes" in one for one in told.lead)
    assert row(str(told), "as it is")[1] == "2.17 h"
    assert row(str(told), MORE)[1] == "1.97 h"  # 118 min


def test_a_log_that_cannot_tell_is_no_ground_against_new_nodes_nor_silent_on_who_pays():
    hours = 3600.0
    few = FarLonger(137, 0, (("user003", 137, 6.47 * 24 * hours),), 0, 0, copies=3)
    told = [
        ranked(
            "10 more nodes like b", Effect("all", "all", 900, 10.5 * hours, 9.27 * hours, (-4.3 * hours, 1.9 * hours))
        ),
        ranked(
            "10 more nodes like n",
            Effect("all", "all", 900, 10.5 * hours, 10.2 * hours, (-3.6 * hours, 2 * hours)),
            few,
            Unusable(0.85, {}, {}),
        ),
    ]
    goes = "the mean wait of 10.5 h becomes anything between"
    assert undecided_texts(4, told, "10.5 h") == [
        "whether any of 4 variants shortens the mean wait cannot be told from this log",
        f"under 10 more nodes like b, {goes} 4.3 h shorter and 1.9 h longer",
        "what is known of 10 more nodes like n follows below",
        "under 10 more nodes like b, no group of jobs surely waits longer",
        "under 10 more nodes like n, no group of jobs surely waits longer; but 137 jobs wait a day or more longer in "
        "each copy, of user003 (137 jobs, +6.47 d each)",
        "this log decides neither for nor against more nodes",
    ]
    assert undecided_texts(1, told[:1], "10.5 h")[0].startswith("whether 10 more nodes like b shorten the mean")
    assert undecided_texts(2, told[:1], "10.5 h")[-2] == "no group of jobs surely waits longer"


def test_of_many_variants_those_that_lengthen_waits_by_far_in_each_copy_are_not_only_counted():
    """Of four that no log can tell, two are much longer in each copy, one in one copy only, one is a bit longer."""
    day = 86_400.0
    everyone = ("all", "all", 900, day)
    found = [
        ranked(
            "SchedulerParameters.bf_interval=1",
            Effect(*everyone, 1.5 * day, (-day, 2 * day), copies=(0.4 * day, 0.6 * day)),
        ),
        ranked(
            "SchedulerParameters.bf_interval=2",
            Effect(*everyone, 3 * day, (-day, 5 * day), copies=(1.5 * day, 2.5 * day)),
        ),
        ranked(
            "SchedulerParameters.bf_interval=3",
            Effect(*everyone, 1.5 * day, (-day, 2 * day), copies=(-0.1 * day, 1.1 * day)),
        ),
        ranked(
            "SchedulerParameters.bf_interval=4",
            Effect(*everyone, 1.1 * day, (-day, 2 * day), copies=(0.1 * day, 0.1 * day)),
        ),
    ]
    for one in found:
        one.can_be_chosen, one.difference = True, ("", "", "cannot be told")
    told = "in the replay, bf_interval=2 makes the mean wait 2 d longer"
    assert much_longer(found) == [f"{told}, and 1 other variant by more than 20%: nothing speaks for setting them"]
    assert much_longer(found[1:]) == [f"{told}: nothing speaks for setting it"]
    assert much_longer(found[2:]) == []


def test_another_load_is_not_ranked_because_no_site_chooses_it(directory):
    """Fewer jobs an hour wait less, which is no merit; of those two, the one that is nearest to today stands first."""
    quiet, both = Variant("load=0.5", load=0.5), Variant("summer, load=0.8", load=0.8)
    found = what_if(directory, [MORE], variants=[quiet, both], copies=1, workers=1).ranking
    assert [one.variant.name for one in found.ranked] == [MORE, "as it is", both.name, quiet.name]
    assert [one.difference[2] for one in found.ranked[2:]] == ["other load", "other load"]
    first = found.lead[0]
    assert f"the best of 3 variants, {MORE}, " in first
    loads = '"summer, load=0.8" and load=0.5 are not ranked, because a site does not choose how often jobs come'
    assert f"Besides, {loads}." in found.lead
    assert not any("surely shorten" in one for one in found.lead)
    page = re.sub(r"<[^>]+>", " ", render_ranking(what_if(directory, variants=[quiet], workers=1).sweep, found))
    assert "other load" in page
    alone = what_if(directory, variants=[quiet, both], copies=1, workers=1).sentences()[0]
    assert alone.endswith(": neither variant can be chosen.")
    with pytest.raises(InputError, match=r"a site does not choose its load: .* --over load="):
        search_parameters(Sweep(directory), {"load": ["1", "1.1"]})


def test_of_several_variants_that_are_sure_the_sentence_is_in_the_plural(directory):
    more = [f"{number} more nodes like n[1-2]" for number in (4, 5, 6)]
    first = what_if(directory, variants=[Variant.of([one]) for one in more], copies=1, workers=1).ranking
    _, *others = [one.variant.name for one in first.changed]
    assert [one.difference[2] for one in first.changed] == ["wins"] * 3
    assert f"Besides, {others[0]} and {others[1]} surely shorten the mean wait." in first.lead


def test_of_variants_with_the_same_schedules_details_and_tables_are_told_once(directory):
    # On four, five or six more nodes each job begins as it comes.
    more = [f"{number} more nodes like n[1-2]" for number in (4, 5, 6)]
    found = what_if(directory, variants=[Variant.of([one]) for one in more], copies=1, workers=1)
    told, [first, *others] = found.ranking, [one.variant.name for one in found.ranking.changed]
    assert [one.same_as for one in told.changed] == ["", first, first]
    for other in others:
        assert f"{other}: all jobs start and end as under {first}." in told.sentences()
    assert render_ranking(found.sweep, told).count("who wins, and who pays") == 1
    window = EffectBounds(window="backfilling plans less far ahead")
    ranked = [replace(one, bounds=window) if one.variant.name == others[0] else one for one in told.ranked]
    lost = f"{others[0]}: all jobs start and end as under {first}. Backfilling plans less far ahead."
    assert lost in replace(told, ranked=tuple(ranked)).sentences()  # that is of this one alone


def test_each_variant_stands_beside_the_site_as_it_is_with_the_same_work(directory):
    found = ask(directory, SHORT).ranking
    killed = next(one for one in found.ranked if "MaxTime" in one.variant.name)
    base = next(one for one in found.ranked if one.variant.name == "as it is")
    assert killed.mean_wait_before < base.mean_wait_before == base.mean_wait
    text = str(found)
    assert "as it is, same" in text
    shown = row(text, "partition batch MaxTime=1:00:00")
    hours = [f"{wait / 3600:.3g} h" for wait in (killed.mean_wait, killed.mean_wait_before)]
    assert shown[1:3] == hours  # the unit of the column
    # 24 jobs of three hours, cut at one: a third of their 216 core-hours is run in vain, and all jobs have 216 + 64.5.
    share = killed.killed_texts[1]
    kills = f"partition batch MaxTime=1:00:00 kills 24 jobs, and {share} of all core-hours are lost"
    assert f"Besides, {kills}." in found.lead
    alone = what_if(directory, [SHORT], workers=1).ranking.lead
    assert alone[0].endswith(f" says: {kills}.")
    whose = r"It is work of user (ann|bob) \(12 jobs\) and user (ann|bob) \(12 jobs\)\."
    assert any(re.fullmatch(whose, one) for one in alone)
    before, after = waits_texts(base.mean_wait, killed.mean_wait)  # in one unit
    goes = f"the mean wait goes from {before} to {after}, but less work is done."
    (told,) = [one for one in found.sentences() if goes in one]
    assert f" With the same reduced work, today's rules give {wait_text(killed.mean_wait_before)}" in told
    assert re.search(whose, told)
    assert "leave it as it is" not in told  # there is nothing to leave
    assert shown[-5:-3] == ["24", share]
    page = render_ranking(ask(directory, SHORT).sweep, found)
    assert {"Killed at new limit", "Work lost"} <= set(re.findall(r"Killed at new limit|Work lost", page))
    assert "partition batch MaxTime=1:00:00: whose jobs it changes</h2>" in page  # though another one is the best


def test_of_many_variants_each_that_is_dangerous_is_told_to_be_and_who_waits_by_far_longer(directory):
    found = ask(directory, *(f"SchedulerParameters.bf_interval={one}" for one in (30, 45, 90, 120, 600))).ranking
    last = found.ranked[-1]
    far = FarLonger(8, 0, (("ann", 8, 9e4),), 0, 0)
    window = EffectBounds(window="backfilling plans less far ahead")
    ranked_ = [*found.ranked[:-1], replace(last, bounds=window, far=far, same_as="")]
    told = replace(found, ranked=tuple(ranked_)).sentences()
    assert f"{last.variant.name}: backfilling plans less far ahead." in told
    assert f"{last.variant.name}: 8 jobs wait a day or more longer, of user ann (8 jobs, +25 h each)." in told


def test_of_variants_that_all_do_less_work_the_one_that_does_most_stands_first(directory):
    """The shorter the limit, the shorter the waits: that is no merit."""
    shorter = "PartitionName=batch MaxTime=0:20:00"
    found = what_if(directory, variants=[Variant.of([one]) for one in (shorter, SHORT)], nodes=False, workers=1).ranking
    assert [one.variant.changes for one in found.ranked[1:]] == [(SHORT,), (shorter,)]
    assert found.ranked[1].undone < found.ranked[2].undone
    assert found.ranked[1].mean_wait > found.ranked[2].mean_wait
    # Waits are shorter than today, and yet no reason to do less work.
    told = "neither variant does all the work and shortens the mean wait: leave the site as it is."
    assert found.lead[0].endswith(told)
    every = next(one for one in found.best.effects if one.kind == "all")
    assert every.excludes_none or found.grounds.decisive is None  # where nothing is decided, no period decides


def test_a_page_has_who_pays_above_its_figures_and_leaves_out_what_decides_nothing(directory):
    answer = ask(directory, "SchedulerParameters.bf_interval=30")
    page = render_ranking(answer.sweep, answer.ranking)
    places = [
        page.index(text)
        for text in (">Variants</h2>", ": who wins, and who pays</h2>", 'class="left-out"', 'id="time"')
    ]
    assert places == sorted(places)
    assert "As it is, same work" not in page  # both do all the work
    assert "from the spread between periods of the log and, added in quadrature, between copies" in page
    box = page[page.index('class="left-out"') :]
    assert "bf_continue" in box
    for name in ("max_script_size", "CR_CORE_DEFAULT_DIST_BLOCK", "ResumeTimeout"):
        assert name not in page


def test_an_effect_below_a_second_is_none_to_speak_of():
    every = Effect("all", "all jobs", 90, 0.4, 0.1, (-0.5, -0.1))
    assert change_texts("x", every) == ["x changes the mean wait by less than a second: <1 s"]


def test_groups_without_an_interval_are_explained():
    some = Effect("user", "ann", 40, 60.0, 90.0, None)
    sure = Effect("user", "bob", 40, 60.0, 90.0, (20.0, 40.0))
    assert "fewer than 6 periods of the log" in effects_text([sure, some])
    assert "periods" not in effects_text([sure])
    assert "periods" not in effects_text([sure, Effect("user", "joe", 40, 60.0, 60.0, None)])  # nothing to explain
    assert "-22.8 to +17.4 min" in effects_text([Effect("user", "eve", 40, 900.0, 738.0, (-1368.0, 1044.0))])


NONE = FarLonger(0, 0, (), 0, 0)
RANKED = RankedVariant(
    Variant.of([MORE]), 0, 0, 0, 0, (), (), (), 0, False, LostWork(), LostWork(), NONE, EffectBounds()
)


def test_a_variant_under_which_groups_surely_pay_and_none_gains_is_advised_against_though_its_mean_is_open():
    """Seven days give no interval without 0 though the mean wait goes from 10.8 h to 3.7 d in each copy."""
    hours = 3600.0
    every = Effect("all", "all", 900, 10.8 * hours, 88.8 * hours, (-5 * hours, 160 * hours), copies=(77e3, 79e3))
    payer = Effect("QOS", "normal", 400, 7 * hours, 99 * hours, (20 * hours, 150 * hours))
    one = replace(RANKED, effects=(every, payer), far=FarLonger(500, 0, (), 0, 0))
    assert one.harms
    assert one.difference[2] == "some pay"
    assert not replace(one, far=FarLonger(500, 3, (), 0, 0)).harms  # some gain as much
    assert not replace(one, effects=(replace(every, copies=(-1.0, 79e3)), payer)).harms
    assert replace(one, effects=(every,)).difference[2] == "cannot be told"


def test_with_less_work_the_change_itself_is_told_apart_from_the_work_that_is_gone():
    same = Effect("all", "all", 247, 1380.0, 1380.0, None)
    assert of_same_work(same) == [
        "with the same reduced work, today's rules give 23 min, too: the change is less work, not shorter waits"
    ]
    open_ = Effect("all", "all", 900, 33_840.0, 33_960.0, (-3500.0, 3700.0))
    assert of_same_work(open_) == [
        "with the same reduced work, today's rules give 9.4 h: whether the change itself shortens waits cannot be told",
        "anything between 58.3 min shorter and 61.7 min longer is possible",
    ]


def test_a_group_that_is_sure_only_by_itself_has_no_verdict_and_the_table_says_why():
    alone = Effect("user", "ann", 40, 60.0, 90.0, (1.0, 59.0), alone=True)
    assert (alone.verdict, Effect("user", "ann", 40, 60.0, 90.0, (1.0, 59.0)).verdict) == ("", "pays")
    assert "Among so many groups, some such intervals come by chance." in effects_text([alone])


def test_what_changes_most_is_told_though_it_may_be_chance():
    """A user with most of the waiting, whose jobs come in one period: no interval, and yet the operator should know."""
    heavy = Effect("user", "user049", 951, 64_800.0, 9360.0, None)
    light = Effect("user", "user003", 40, 80_524.0, 174_484.0, (-3600.0, 191_520.0))
    small = Effect("user", "user001", 900, 600.0, 660.0, (-300.0, 420.0))
    (told,) = open_text([small, light, heavy])
    why = "hese waits change most in sum, perhaps by chance: "
    # 951 jobs that wait 15.4 h less are 14,645 h; 40 that wait 26.1 h longer, 1,044 h
    assert told == f"T{why}user049 (951 jobs, -15.4 h each) and user003 (40 jobs, +26.1 h each)."
    assert open_text([heavy], "Under x, ") == [f"Under x, t{why}user049 (951 jobs, -15.4 h each)."]
    assert open_text([replace(heavy, told=True)]) == []  # most of its jobs are in a group of which it is told
    assert open_text([replace(small, after=650.0)]) == []  # less than a minute each
    (told,) = open_text([replace(heavy, told=True), light])
    assert told.startswith(
        "These waits change most in sum, of users of whom nothing is sure, perhaps by chance: user003 "
    )


def test_who_changes_most_in_sum_is_named_whatever_share_of_the_own_wait_that_is():
    """A sixth of 5.9 days for 953 jobs is 15,400 h; a third of an hour for 200 jobs is 12 h, and not named."""
    large = Effect("user", "user049", 953, 511_200.0, 453_000.0, None)
    middle = Effect("user", "user017", 310, 118_440.0, 106_272.0, None)
    tiny = Effect("user", "user048", 207, 300.0, 83.0, None)
    (told,) = open_text([tiny, middle, large])
    assert told.endswith("perhaps by chance: user049 (953 jobs, -16.2 h each) and user017 (310 jobs, -3.38 h each).")


def test_groups_that_have_no_room_in_the_table_are_counted():
    """Of 14 users, a text has 5 and a page 10, and what surely pays besides: here the 13th."""
    many = [Effect("user", f"user u{number}", 40, 60.0, 90.0, None) for number in range(14)]
    many[12] = replace(many[12], interval=(20.0, 40.0))
    text = effects_text(many)
    assert "The page (--report) has more groups: 6 of user." in text
    assert sum("user u" in line for line in text.splitlines()) == 5
    page = by_group("x", many)
    assert len(page.rows) == 5 + 6
    assert page.note.startswith("3 smaller groups")


def test_where_no_group_wins_or_pays_there_is_no_empty_column_of_verdicts():
    open_ = Effect("all", "all jobs", 40, 60.0, 90.0, (-20.0, 40.0))
    sure = replace(open_, interval=(20.0, 40.0))
    heads = [[cell.text for cell in by_group("x", [one]).head] for one in (open_, sure)]
    assert [("Verdict" in head) for head in heads] == [False, True]
    assert [effects_text([one]).splitlines()[-1].split()[-1] for one in (open_, sure)] == ["s", "pays"]


def test_a_list_that_is_given_anew_says_first_which_options_no_longer_hold(directory):
    found = what_if(directory, ["SchedulerParameters=bf_interval=30"], nodes=False, copies=1, workers=1).ranking
    lost = "no longer hold: SchedulerParameters= is all of it (SchedulerParameters.OPTION= is not)."
    (said,) = [one for one in found.lead if one.endswith(lost)]
    assert said.startswith("bf_continue and max_script_size ")
    other = what_if(directory, ["SchedulerParameters.bf_interval=30"], nodes=False, copies=1, workers=1).ranking
    assert not any("no longer" in one for one in other.lead)


def test_an_answer_without_an_effect_asks_for_no_longer_log(directory):
    told = what_if(directory, ["SchedulerParameters.bf_interval=60"], nodes=False, copies=1, workers=1).sentences()
    assert not any("four weeks" in one or "can decide" in one for one in told)


def test_of_a_few_variants_one_that_makes_waits_far_longer_in_each_copy_is_named_though_the_log_cannot_tell():
    """The best of two may shorten waits; the other one doubles them here, in each copy."""
    best = ranked("SchedulerParameters.bf_interval=30", Effect("all", "all", 900, 7200.0, 7000.0, (-900.0, 900.0)))
    worse = ranked(
        "SchedulerParameters.bf_max_job_test=1",
        Effect("all", "all", 900, 7200.0, 14_400.0, (-9000.0, 9000.0), copies=(6000.0, 8000.0)),
    )
    for one in (best, worse):
        one.can_be_chosen, one.difference = True, ("", "", "cannot be told")
    assert much_longer([worse]) == [
        "in the replay, bf_max_job_test=1 makes the mean wait 2 h longer: nothing speaks for setting it"
    ]
    assert much_longer([best]) == []


def test_what_is_not_simulated_is_said_first_and_is_no_effect_of_zero(directory):
    asked = {"nodes": False, "copies": 1, "workers": 1}
    found = what_if(directory, ["SchedulerParameters.max_rpc_cnt=10"], **asked).ranking
    assert found.lead[0].endswith(" says: what max_rpc_cnt=10 would change cannot be told.")
    why = "max_rpc_cnt is not simulated (messages and their number are not simulated)."
    assert found.lead[1:3] == [why, "No job is left out."]
    assert found.best.difference == ("none", "-", "not simulated")
    short, other = Variant("rpc", ("SchedulerParameters.max_rpc_cnt=10",)), Variant("twice", load=2)
    found = what_if(directory, variants=[short, other], **asked).ranking
    assert "What rpc would do cannot be told, as it is not simulated." in found.lead
    assert found.best.variant == other  # what is shown, and written, is a variant that changes something


def test_a_change_that_is_none_says_why_in_the_first_sentence(directory):
    found = what_if(directory, ["SchedulerParameters.bf_interval=60"], nodes=False, copies=1, workers=1)
    assert found.sentences()[0].endswith("bf_interval=60 changes nothing, as the site has it already.")
    assert not any("slurmctld" in one for one in found.ranking.lead)  # there are no other passes


def test_of_users_who_lose_work_those_who_lose_most_are_named_with_their_part():
    """Three of five lose 50, 20 and 10 of 100 core-hours; of three, all are named, and the part is not needed."""
    hours = {"eve": 50.0, "bob": 20.0, "ann": 10.0, "joe": 10.0, "sue": 10.0}
    lost = [
        Affected("user", f"user {name}", 9, 0, 2, 0, 0, 0, part, 0.0, 0.0, 99.0, 0.0) for name, part in hours.items()
    ]
    assert whose_lost(lost) == "of 5 users, 80% of it of user eve (2 jobs), user bob (2 jobs) and user ann (2 jobs)"
    many = [*lost[:4], replace(lost[4], killed=40)]  # of little work, but many jobs
    assert whose_lost(many).endswith(f"user ann (2 jobs); also {many[4].who} (40 jobs)")
    assert whose_lost(lost[:3]) == "of user eve (2 jobs), user bob (2 jobs) and user ann (2 jobs)"


def test_what_users_lose_today_already_is_not_told_as_lost_by_a_variant():
    """Eve loses 5 core-hours more in 1 job, Bob 20 in 2; what Ann loses she loses today, too."""
    lost = {"eve": (3, 2, 50.0, 45.0), "bob": (2, 0, 20.0, 0.0), "ann": (4, 4, 90.0, 90.0)}
    rows = [
        Affected("user", f"user {name}", 9, 0, killed, 0, 0, before, hours, 0.0, 0.0, 99.0, already)
        for name, (killed, before, hours, already) in lost.items()
    ]
    assert whose_lost(rows) == "of user bob (2 jobs) and user eve (1 job)"
    assert whose_lost(rows[2:]) == ""


def test_a_load_of_its_own_is_told_and_the_site_as_it_is_has_it_too(directory):
    found = what_if(directory, variants=[Variant("both", policy="saf", load=1.2)], nodes=False, copies=1, workers=1)
    assert "Both sides have 1.2 times the load of today." in found.ranking.lead
    (one,) = found.ranking.changed
    alone = what_if(directory, variants=[Variant("load", load=1.2)], nodes=False, copies=1, workers=1).ranking
    assert one.mean_wait_before == alone.best.mean_wait  # the site as it is, under 1.2 times the load
    assert row(str(alone), "load")[2] == "-"  # beside it, the site as it is has less work


def test_that_other_passes_cost_slurmctld_time_is_said_at_once(directory):
    found = what_if(directory, ["SchedulerParameters.bf_interval=30"], nodes=False, copies=1, workers=1)
    assert "What other passes cost slurmctld (its locks, bf_max_time) is not simulated." in found.ranking.lead
    assert "locks" not in str(what_if(directory, [SHORT], nodes=False, copies=1, workers=1).ranking.lead)


def test_nothing_is_changed_only_where_all_jobs_start_and_end_as_before(directory):
    little = Effect("all", "all jobs", 90, 0.4, 0.1, (-0.5, -0.1))
    assert little.negligible
    assert not Effect("all", "all jobs", 90, 60.0, 60.1, (-1.5, 1.7)).negligible
    found = ask(directory, "SchedulerParameters.bf_interval=30").ranking
    [other] = [one for one in found.changed if one.variant.name == "bf_interval=30"]
    for one, said, cells in (
        (
            replace(other, effects=(little,), unchanged=False),
            "changes the mean wait by less than a second",
            "negligible",
        ),
        (replace(other, effects=(little,), unchanged=True), "changes nothing", "no effect"),
    ):
        told = replace(found, ranked=tuple(one if each is other else each for each in found.ranked))
        assert f"Besides, bf_interval=30 {said}." in told.lead
        assert row(str(told), "bf_interval=30")[-4] == cells


def test_what_happens_to_nodes_is_no_choice_that_one_could_leave():
    events = NodeEvents((NodeEvent(100, "drain", ("n1",)),))
    one = ranked("SchedulerParameters.bf_interval=30", Effect("all", "all", 900, 7200.0, 7000.0, (-900.0, 900.0)))
    told = undecided_texts(1, [one], "2 h")
    one.variant = replace(one.variant, node_events=events)
    assert told[-1] == "leave the site as it is until a longer log tells"
    assert undecided_texts(1, [one], "2 h") == told[:-1]
