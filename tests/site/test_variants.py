"""Many variants of a site: read, run once each, ranked, searched."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from schedlab.cli import main
from schedlab.errors import InputError, InputErrors
from schedlab.site import import_site, what_if
from schedlab.site.changes import parse_change
from schedlab.site.copies import copies_of
from schedlab.site.effects import effects
from schedlab.site.ranking import rank_variants
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Sweep
from schedlab.site.tuning import search_parameters
from schedlab.site.variant_names import name_of
from schedlab.site.variants import AS_IT_IS, Variant, grid, parse_axis, read_variants

CONF = """ClusterName=lab
NodeName=n[1-2] CPUs=4
PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=1-0
"""


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    rng = np.random.default_rng(3)
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for number in range(90):
        hour, length = number // 6, int(rng.integers(5, 50))
        times = f"2026-04-01T{hour:02d}:{10 * (number % 6):02d}:00|2026-04-01T{hour:02d}:55:00"
        end = f"2026-04-01T{hour + 1:02d}:{length:02d}:00"
        user = ("ann", "bob")[number % 2]
        lines.append(
            f"{number + 1}|{user}|COMPLETED|{times}|{end}|{600 if number % 10 else 1200}|{number % 4 + 1}|batch"
        )
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    return import_site(tmp_path, tmp_path / "jobs.txt").save(tmp_path / "site")


VARIANTS = [
    Variant("saf", policy="saf"),
    Variant("larger", ("NodeName=n[3-4] CPUs=4", "PartitionName=batch Nodes=n[1-4]")),
]


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        ("SchedulerParameters.bf_interval=30,60", ("SchedulerParameters.bf_interval", ("30", "60"))),
        ("PartitionName=long MaxTime=1-0,2-0", ("PartitionName=long MaxTime", ("1-0", "2-0"))),
        ("QOS=high GrpTRES=cpu=4;cpu=8,gres/gpu=2", ("QOS=high GrpTRES", ("cpu=4", "cpu=8,gres/gpu=2"))),
        ("policy=saf;aged-eaf(half=1)", ("policy", ("saf", "aged-eaf(half=1)"))),
        ("PriorityMaxAge=1-0, 2-0", ("PriorityMaxAge", ("1-0", "2-0"))),
    ],
)
def test_an_axis_is_what_stands_before_its_values(text, axis):
    assert parse_axis(text) == axis


@pytest.mark.parametrize(
    "change",
    [
        "PartitionName=batch MaxTime=4:00:00",
        "NodeName=n[1-2] CPUs=8",
        "QOS=high MaxJobsPerUser=5",
        "Account=lab GrpJobs=3",
        "User=ann MaxJobs=3",
    ],
)
def test_a_change_can_be_written_as_tables_call_it(change):
    """What is copied from an answer into the next question is understood, with values of an axis, too."""
    assert parse_change(name_of([change])) == parse_change(change)
    what, values = parse_axis(f"{name_of([change])},7")
    assert parse_change(f"{what}={values[0]}") == parse_change(change)


@pytest.mark.parametrize("text", ["bf_interval", "=3,4", "PriorityMaxAge=1,,2", "PriorityMaxAge=1,1"])
def test_an_axis_that_is_none_is_refused(text):
    with pytest.raises(InputError, match="axis"):
        parse_axis(text)


def test_unknown_parameters_policies_and_loads_of_a_grid_are_refused():
    for axes in (
        {"KillWait.x": ["3"]},
        {"policy": ["nothing"]},
        {"load": ["much"]},
        {"load": ["0"]},
    ):
        with pytest.raises(InputError):
            grid(axes)
    with pytest.raises(InputError, match="the maximum is 100,000"):
        grid({f"SchedulerParameters.{name}": [str(one) for one in range(500)] for name in ("bf_interval", "bf_window")})


def test_a_file_has_variants_and_a_grid_and_each_name_once(tmp_path):
    file = tmp_path / "variants.toml"
    file.write_text('[[variant]]\nname = "a"\npolicy = "saf"\n[over]\nload = [1, 1.5]\n')
    assert [one.name for one in read_variants(file)] == ["a", "load=1", "load=1.5"]
    file.write_text('[[variant]]\nname = "as it is"\npolicy = "saf"\n')
    with pytest.raises(InputError, match="two variants are called"):
        read_variants(file)
    file.write_text('[[variants]]\nname = "a"\n')
    with pytest.raises(InputError, match="variants"):
        read_variants(file)


def test_a_sweep_runs_each_variant_once_and_keeps_the_answers(directory):
    assert Sweep(directory, nodes=False).run(VARIANTS, workers=1) == 3
    again = Sweep(directory, nodes=False)
    assert again.run([*VARIANTS, Variant("heavier", load=1.5)], workers=1) == 1
    base, heavier = again.answer(Variant(AS_IT_IS)), again.answer(Variant("heavier", load=1.5))
    assert base is not None
    assert heavier is not None
    # Submissions come in two thirds of the time.
    spans = [np.ptp(one.schedule.workload.submit_time) for one in (base, heavier)]
    assert spans[1] == pytest.approx(spans[0] / 1.5, abs=1)
    assert heavier.metric("mean_wait") > base.metric("mean_wait")
    assert Sweep(directory, nodes=True).answer(VARIANTS[0]) is None


def test_another_site_in_the_same_place_has_its_own_answers(directory):
    assert Sweep(directory, nodes=False).run(VARIANTS, workers=1) == 3
    jobs = directory.parent / "jobs.txt"
    jobs.write_text("\n".join(jobs.read_text().splitlines()[:11]))
    shutil.rmtree(directory)
    import_site(directory.parent, jobs).save(directory)
    sweep = Sweep(directory, nodes=False)
    assert sweep.run(VARIANTS, workers=1) == 3
    answer = sweep.answer(VARIANTS[0])
    assert answer is not None
    assert len(answer.schedule.workload) == 10


def test_a_variant_of_a_file_without_a_name_is_named_by_its_changes_as_one_of_the_command_line(tmp_path):
    file = tmp_path / "variants.toml"
    file.write_text(
        '[[variant]]\nset = ["10 more nodes like n[1-8]"]\n'
        '[[variant]]\nset = ["SchedulerParameters.bf_interval=30"]\npolicy = "saf"\nload = 1.1\n'
    )
    first, second = read_variants(file)
    assert first == Variant.of(["10 more nodes like n[1-8]"])
    assert (first.name, second.name) == ("10 more nodes like n[1-8]", "bf_interval=30, policy=saf, load=1.1")
    file.write_text("[[variant]]\n")
    with pytest.raises(InputError, match="a variant has neither changes nor a name"):
        read_variants(file)


def test_a_site_that_changes_under_a_sweep_fails_its_variants(directory):
    sweep = Sweep(directory, nodes=False)
    jobs = directory.parent / "jobs.txt"
    jobs.write_text("\n".join(jobs.read_text().splitlines()[:11]))
    shutil.rmtree(directory)
    import_site(directory.parent, jobs).save(directory)
    sweep.run(VARIANTS, workers=1)
    assert len(sweep.failures) == 3
    assert "has changed since its variants were planned" in next(iter(sweep.failures.values())).reason


def test_a_variant_that_cannot_be_run_is_told_and_the_others_are(directory):
    sweep = Sweep(directory, nodes=False)
    sweep.run([Variant("bad", ("PartitionName=batch MinNodes=99",)), VARIANTS[0]], workers=1)
    (failure,) = sweep.failures.values()
    assert failure.variant.name == "bad"
    found = rank_variants(sweep, [failure.variant, VARIANTS[0]], [SiteSample()])
    assert {one.variant.name for one in found.ranked} == {AS_IT_IS, "saf"}


def test_slips_in_any_variant_are_told_at_once_before_anything_is_simulated(directory):
    sweep = Sweep(directory, nodes=False)
    texts = [
        "PartitionName=bath MaxTime=1-0",
        "PartitionName=batch Nodes=nowhere",
        "bf_interval=30",
        "NodeName=z9 CPUs=4",
    ]
    with pytest.raises(InputErrors) as told:
        sweep.run([*(Variant(text, (text,)) for text in texts[:3]), VARIANTS[0]], workers=1)
    assert len(told.value.parts) == 3
    assert "did you mean batch?" in told.value.parts[0]
    with pytest.raises(InputError, match="no job can use the 1 new node z9"):
        sweep.run([Variant(texts[3], (texts[3],)), VARIANTS[0]], workers=1)
    assert not list(sweep.answers.iterdir())


def test_effects_pair_the_jobs_of_each_group(directory):
    sweep = Sweep(directory, nodes=False)
    sweep.run(VARIANTS, workers=1)
    pair = sweep.pair(VARIANTS[1])
    assert pair is not None
    base, other = pair
    found = {(one.kind, one.group): one for one in effects([pair])}
    wait = [one.schedule.wait_time for one in (base, other)]
    every = found["all", "all jobs"]
    assert every.difference == pytest.approx(wait[1].mean() - wait[0].mean())
    assert every.verdict == "wins"
    users = base.schedule.workload.user_id
    mine = users == users[0]
    assert found["user", "ann"].jobs == mine.sum() == 45
    assert found["user", "ann"].difference == pytest.approx((wait[1] - wait[0])[mine].mean())


@pytest.mark.parametrize("verb", ["what-if", "search", "python"])
def test_an_unknown_metric_is_refused_before_anything_is_simulated(directory, verb, monkeypatch, capsys):
    told = "unknown metric 'waits' (did you mean mean_wait?)"
    if verb == "what-if":
        monkeypatch.setattr(
            "sys.argv", ["schedlab", "site", verb, str(directory), "--policy", "saf", "--rank-by", "waits"]
        )
        with pytest.raises(SystemExit):
            main()
        assert told in capsys.readouterr().err
    elif verb == "search":
        with pytest.raises(InputError, match=re.escape(told)):
            search_parameters(Sweep(directory), {"policy": ["saf", "lxf"]}, metric="waits")
    else:
        with pytest.raises(InputError, match=re.escape(told)):
            what_if(directory, policies=["saf"], metric="waits")
    assert not [*directory.glob("what-if/*")]


@pytest.mark.parametrize(
    "words",
    ["what-if --policy saf", "capacity --until mean_wait=2h", "maintenance", "explain", "search --over policy=saf;lxf"],
)
def test_a_page_in_a_directory_that_is_not_there_is_refused_before_anything_is_simulated(
    directory, words, monkeypatch, capsys
):
    verb, *options = words.split()
    monkeypatch.setattr(
        "sys.argv", ["schedlab", "site", verb, str(directory), *options, "--report", "nowhere/page.html"]
    )
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    assert "the directory nowhere does not exist" in capsys.readouterr().err
    assert not [*directory.glob("what-if/*")]


def test_a_search_chooses_on_one_part_and_judges_on_the_other(directory):
    sweep = Sweep(directory, nodes=False)
    found = search_parameters(sweep, {"policy": ["saf", "laf"]}, "mean_wait", workers=1)
    first = {variant.name: value for variant, value in found.values}
    assert found.best.name == min(first, key=first.__getitem__)
    judged = [sweep.answer(found.best, one) for one in copies_of([found.judged_on], found.copies)]
    assert len(judged) == 3
    assert found.after == pytest.approx(np.mean([one.metric("mean_wait") for one in judged]))
    parts = [sample.of(sweep.jobs) for sample in (found.chosen_on, found.judged_on)]
    assert sum(map(len, parts)) == len(sweep.jobs)
    assert parts[0].submit_time.max() < parts[1].submit_time.min()
    values = ((Variant(AS_IT_IS), 3600.0), (Variant("x"), 7200.0))
    told = replace(found, best=Variant(AS_IT_IS), values=values, before=10_800.0, effects=()).lead
    assert any(one.startswith("The nearest, x, has 2 h instead of 60 min, simulated once each") for one in told)
    assert "There, the mean wait is 3 h as it is." in told
    empty = "The log from 67% is replayed from an empty machine, so that its first jobs wait too little."
    assert empty in told
    assert empty in found.lead
    with pytest.raises(InputError, match="did you mean mean_wait"):
        search_parameters(sweep, {"policy": ["saf"]}, "mean_wiat", workers=1)


def test_samples_need_weeks_to_draw_from(directory):
    with pytest.raises(InputError, match="too few weeks"):
        SiteSample(seed=1).of(Sweep(directory).jobs)
