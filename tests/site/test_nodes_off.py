"""What-if of nodes that are switched off, of a power cap and of checkpoints, on sites small enough for a pencil."""

from __future__ import annotations

import json

import pytest

from schedlab.cli import main
from schedlab.cluster import NodeEvents
from schedlab.errors import InputError
from schedlab.report.variants import render_ranking
from schedlab.site import Variant, changed, grid, import_site, parse_axis, read, what_if
from schedlab.site.sweep import Sweep
from schedlab.site.variant_task import variant_task
from schedlab.site.variants import compared_with
from schedlab.site.what_if import asked as asked_variants

CONF = """ClusterName=lab
SchedulerType=sched/builtin
NodeName=n[1-2] CPUs=1
PartitionName=batch Nodes=n1 Default=YES
"""
JOBS = """JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition
1|ann|COMPLETED|2026-04-01T00:00:00|2026-04-01T00:00:00|2026-04-01T00:00:10|1|1|batch
2|ann|COMPLETED|2026-04-01T00:01:40|2026-04-01T00:01:40|2026-04-01T00:01:50|1|1|batch
"""
POWER = """price = 0.36
currency = "EUR"

[[groups]]
idle = 100
busy = 300
off = 10
boot = 200
nodes = "n1"

[[groups]]
idle = 0
busy = 0
nodes = "n2"
"""
OFF = ("SuspendTime=20", "ResumeTimeout=15", "SuspendTimeout=5")
JOULES = 3.6e6


@pytest.fixture
def files(tmp_path):
    """Two jobs with a pause of 90 s between them, on a node of 100 W; another one draws nothing."""

    def write(conf=CONF, jobs=JOBS):
        (tmp_path / "slurm.conf").write_text(conf)
        (tmp_path / "jobs.txt").write_text(jobs)
        (tmp_path / "power.toml").write_text(POWER)
        import_site(tmp_path / "slurm.conf", tmp_path / "jobs.txt").save(tmp_path / "site")
        return tmp_path

    return write


def asked(where, *changes, **how):
    return what_if(where / "site", changes, power=where / "power.toml", copies=1, workers=1, **how)


def of_first(found):
    """Return energy (J), cost and mean wait of the site as it is, and of the variant."""
    one = found.ranking.changed[0].energy
    return [(round(side["energy_kwh"] * JOULES), side["mean_wait"]) for side in (one.before, one.after)]


def test_nodes_that_are_switched_off_save_energy_to_the_joule_and_cost_the_wait_for_their_boot(files):
    # On: 110 s of 100 W, 20 s of them 200 W more. Off from 35 to 100, it boots until 115, and is done at 125:
    # 20 s x 300 W + 25 s x 100 W + 65 s x 10 W + 15 s x 200 W.
    found = asked(files(), *OFF)
    assert of_first(found) == [(15_000, 0.0), (12_150, 7.5)]
    energy = found.ranking.changed[0].energy
    assert energy.before["energy_cost"] - energy.after["energy_cost"] == pytest.approx(2_850 / JOULES * 0.36)
    assert (energy.after["boots"], energy.after["jobs_that_waited_for_a_boot"]) == (1, 1)


def test_the_answer_begins_with_energy_money_and_wait(files):
    first = asked(files(), *OFF).sentences()[0]
    assert "would save 0.000792 kWh (19.0%) and 0.000285 EUR in 110 s; its boots cost 7.5 s of wait" in first


def test_without_a_power_model_the_answer_has_the_boots(files):
    found = what_if(files() / "site", OFF, copies=1, workers=1)
    assert "1 of 2 jobs waits for nodes to boot for 15 s; nodes boot once" in found.sentences()[0]


def test_nodes_that_stay_on_save_nothing(files):
    assert of_first(asked(files(), *OFF, "SuspendExcNodes=n1")) == [(15_000, 0.0), (15_000, 0.0)]
    assert of_first(asked(files(), *OFF, "SuspendExcParts=batch")) == [(15_000, 0.0), (15_000, 0.0)]


def test_a_site_that_switches_nodes_off_does_so_as_it_is_where_a_change_is_about_that(files):
    conf = CONF + "\n".join([*OFF, "SuspendProgram=/bin/off", "ResumeProgram=/bin/on", ""])
    where = files(conf)
    assert of_first(asked(where, "SuspendTime=-1")) == [(12_150, 7.5), (15_000, 0.0)]
    assert of_first(asked(where, "SuspendTime=20")) == [(12_150, 7.5), (12_150, 7.5)]
    assert asked(where, "SuspendTime=20").ranking.changed[0].why_unchanged == "the site has it already"
    assert of_first(asked(where, "OverTimeLimit=1"))[0] == (15_000, 0.0)


def test_without_its_programs_slurm_switches_no_node_off_as_it_is(files):
    assert of_first(asked(files(CONF + "\n".join([*OFF, ""])), "SuspendTime=-1")) == [(15_000, 0.0), (15_000, 0.0)]


def test_several_suspend_times_are_ranked_by_energy(files):
    variants = [Variant(f"SuspendTime={one}", (f"SuspendTime={one}", *OFF[1:])) for one in (60, 20)]
    # After 60 s, it is off from 75 to 100 and boots for 15 s: 25 s x 90 W less, 15 s x 100 W and 15 s x 100 W more.
    found = asked(files(), variants=variants)
    assert [one.variant.name for one in found.ranking.ranked] == ["SuspendTime=20", "as it is", "SuspendTime=60"]
    assert "SuspendTime=20 would save" in found.sentences()[0]
    assert "SuspendTime=60 would take 0.000208 kWh (5.0%) and 7.5e-05 EUR more" in " ".join(found.sentences())
    assert "energy" in str(found)


def test_node_events_of_the_site_are_left_out_on_both_sides(files):
    where = files()
    (where / "events.csv").write_text("second,event,nodes\n101,drain,n1\n200,up,n1\n")
    conf, jobs = where / "slurm.conf", where / "jobs.txt"
    import_site(conf, jobs, node_events=[where / "events.csv"]).save(where / "site")
    with pytest.raises(InputError, match="do not go with node events: leave out those of the site, on both sides"):
        asked(where, *OFF)
    found = asked(where, *OFF, own_events=False)
    assert of_first(found) == [(15_000, 0.0), (12_150, 7.5)]
    assert found.sweep.pair(found.ranking.variants[0]).base_name == "as it is, without the site's node events"


def test_no_job_starts_above_a_cap(files):
    # Both want n1 or n2 at once; each adds 200 W to the 200 W of two idle nodes. The second one waits for 10 s,
    # in which the machine is there as it is, too: that it draws 200 W then is no difference.
    jobs = JOBS.replace("00:01:40|", "00:00:00|").replace("00:01:50|", "00:00:10|")
    where = files(CONF.replace("Nodes=n1", "Nodes=ALL"), jobs)
    (where / "power.toml").write_text("[[groups]]\nidle = 100\nbusy = 300\n")
    found = asked(where, variants=[Variant("cap=500", cap=500)])
    assert of_first(found) == [(6_000, 0.0), (6_000, 5.0)]
    before = sorted((where / "site" / "what-if").iterdir())
    with pytest.raises(InputError, match="cap of 500 W needs a power model"):
        what_if(where / "site", variants=[Variant("cap=500", cap=500)], copies=1, workers=1)
    assert sorted((where / "site" / "what-if").iterdir()) == before  # nothing is simulated first


def test_the_cap_of_the_power_file_may_change_with_time(files):
    # The same two jobs, but 600 W from second 4 on: the second one waits for 4 s.
    jobs = JOBS.replace("00:01:40|", "00:00:00|").replace("00:01:50|", "00:00:10|")
    where = files(CONF.replace("Nodes=n1", "Nodes=ALL"), jobs)
    variants = grid({"cap": ["given", "500"]})
    assert [(one.name, one.cap, one.text) for one in variants] == [
        ("cap=given", "given", "cap=given"),
        ("cap=500", 500, "cap=500"),
    ]
    (where / "power.toml").write_text("[[groups]]\nidle = 100\nbusy = 300\n")
    with pytest.raises(InputError, match="cap=given: the power model has no cap; write one into the power file"):
        asked(where, variants=variants)
    (where / "power.toml").write_text('cap = "cap.csv"\n[[groups]]\nidle = 100\nbusy = 300\n')
    (where / "cap.csv").write_text("second,watts\n0,500\n4,600\n100,\n")
    found = asked(where, variants=variants[:1])
    assert of_first(found) == [(6_000, 0.0), (6_000, 2.0)]
    page = render_ranking(Sweep(where / "site", power=where / "power.toml"), found.ranking)
    assert "and power over time" in page
    assert "cap=given" in page
    with pytest.raises(InputError, match="cap=given needs a power model"):
        what_if(where / "site", variants=variants[:1], copies=1, workers=1)
    with pytest.raises(InputError, match="or given, that of the power file"):
        grid({"cap": ["night"]})


def test_checkpoints_save_the_work_of_a_run_that_its_node_ends(files):
    # A job of 50 s works for 30 s until its node fails; with a checkpoint of 2 s after each 10 s of work, two are
    # complete by then, so that 6 s are lost: 30 - 2 x (10 + 2); 20 + 30 s of work take 2 x 2 + 2 x 2 s of checkpoints.
    jobs = JOBS.splitlines(keepends=True)[:2]
    where = files(jobs="".join(jobs).replace("00:00:10|1|", "00:00:50|2|"))
    (where / "events.csv").write_text("second,event,nodes\n30,down,n1\n31,up,n1\n")
    events = NodeEvents.read(where / "events.csv", "requeue", 0)
    found = what_if(where / "site", checkpoints="every(10s,cost=2s)", node_events=events, copies=1, workers=1)
    effect = found.ranking.changed[0].checkpoints
    hours = [round(3_600 * one) for one in (effect.lost_before, effect.lost, effect.overhead, effect.hours)]
    assert hours == [30, 6, 8, 50]
    assert "in all, that saves" in " ".join(found.sentences()).lower()


def test_what_is_compared_with_has_the_failures_if_jobs_write_checkpoints():
    assert compared_with(Variant("a", checkpoints="told()")).node_events is None
    assert compared_with(Variant("a", ("SuspendTime=9",))).nodes_off
    assert compared_with(Variant("a", ("ResumeRate=9",))).nodes_off


def test_rules_of_checkpoints_are_values_of_an_axis():
    what, values = parse_axis("checkpoints=every(1h,cost=5m);told(cost=5m)")
    assert (what, values) == ("checkpoints", ("every(1h,cost=5m)", "told(cost=5m)"))
    assert parse_axis("checkpoints=every(1h,cost=5m)")[1] == ("every(1h,cost=5m)",)


@pytest.mark.parametrize("rules", ["every(1h)", "sometimes", "daly(cost=5m)"])
def test_rules_of_checkpoints_are_read_before_anything_is_simulated(rules):
    if rules != "every(1h)":
        with pytest.raises(InputError):
            Variant("a", checkpoints=rules)
    else:
        assert Variant("a", checkpoints=rules).text == "checkpoints=every(1h)"


def test_the_commands_of_an_operator(files, capsys, monkeypatch):
    where = files()
    options = ["--power", str(where / "power.toml"), "--copies", "1", "-j", "1"]
    axes = ["--over", "SuspendTime=20,60", "--over", "ResumeTimeout=15", "--over", "SuspendTimeout=5"]
    page = where / "page.html"
    command = ["schedlab", "site", "what-if", str(where / "site"), *axes, *options, "-r", str(page)]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    out = capsys.readouterr().out
    assert "SuspendTime=20, ResumeTimeout=15, SuspendTimeout=5 would save 0.000792 kWh" in out
    assert "Boots of nodes" in page.read_text()
    assert "Power over time" in page.read_text()


def test_answers_keep_the_watts_of_the_site_over_time(files):
    # n1 draws 300 W while a job runs, and 100 W between; switched off at 30, it is off from 35 on, and boots at 100.
    # n2, which is off from 25 on, draws nothing before either.
    where = files()
    asked(where, *OFF)
    sweep = Sweep(where / "site", power=where / "power.toml")
    variant = what_if_variant(*OFF)
    pair = sweep.pair(variant)
    assert pair is not None
    assert [(one.watts.times.tolist(), one.watts.values.tolist()) for one in (pair.base, pair.other)] == [
        ([0, 10, 100, 110], [300, 100, 300, 300]),
        ([0, 10, 25, 35, 100, 115, 125], [300, 100, 100, 10, 200, 300, 300]),
    ]


def test_the_page_has_the_power_of_both_sides_with_the_cap_of_each(files):
    where = files()
    found = asked(where, *OFF)
    page = render_ranking(Sweep(where / "site", power=where / "power.toml"), found.ranking)
    for name in ("as it is", found.ranking.changed[0].variant.name):
        assert f"{name}: share of the machine in use and power over time" in page
    without = what_if(where / "site", OFF, copies=1, workers=1)
    assert "and power over time" not in render_ranking(Sweep(where / "site"), without.ranking)


def what_if_variant(*changes):
    (variant,) = asked_variants(changes, ())
    return variant


# Twice the two jobs, and a third time: the first two pairs are what a search chooses on, the last what it judges on.
LONGER = (
    JOBS
    + """3|ann|COMPLETED|2026-04-01T00:05:00|2026-04-01T00:05:00|2026-04-01T00:05:10|1|1|batch
4|ann|COMPLETED|2026-04-01T00:06:40|2026-04-01T00:06:40|2026-04-01T00:06:50|1|1|batch
5|ann|COMPLETED|2026-04-01T00:10:00|2026-04-01T00:10:00|2026-04-01T00:10:10|1|1|batch
6|ann|COMPLETED|2026-04-01T00:11:40|2026-04-01T00:11:40|2026-04-01T00:11:50|1|1|batch
"""
)


def test_a_search_under_a_power_model_answers_in_energy_and_waits(files, capsys, monkeypatch):
    where = files(jobs=LONGER)
    axes = ["--over", "SuspendTime=20,600", "--over", "ResumeTimeout=15", "--over", "SuspendTimeout=5"]
    page = where / "page.html"
    command = ["schedlab", "site", "search", str(where / "site"), *axes, "--power", str(where / "power.toml")]
    monkeypatch.setattr("sys.argv", [*command, "-j", "1", "-r", str(page)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    out = capsys.readouterr().out
    assert "by energy (kWh) on the log to 67%, the best of 2 variants is SuspendTime=20" in out
    assert "On the log from 67%, SuspendTime=20" in out
    assert "its boots cost 7.5 s of wait in the mean" in out
    assert "mean wait" in out
    assert "Power over time" in page.read_text()
    assert "Mean wait" in page.read_text()
    monkeypatch.setattr("sys.argv", [*command, "-j", "1", "--json"])
    with pytest.raises(SystemExit):
        main()
    found = json.loads(capsys.readouterr().out)
    assert found["metric"] == "energy_kwh"
    assert found["energy"]["after"]["boots"] == 1
    # As for the first two jobs, about 2,850 J are saved: of three copies whose jobs come some seconds earlier or later.
    before, after = (found["energy"][side]["energy_kwh"] * JOULES for side in ("before", "after"))
    assert before - after == pytest.approx(2_850, abs=150)
    assert len(found["mean_waits"]) == len(found["values"]) == 3
    monkeypatch.setattr("sys.argv", [*command[:-2], "--minimise", "energy_kwh"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "unknown metric" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variant", "why"),
    [
        (Variant("off", OFF), "switches no node off"),
        (Variant("cap=9", cap=9), "knows no cap of power"),
        (Variant("checkpoints", checkpoints="every(5s,cost=1s)"), "has no jobs that write checkpoints"),
    ],
)
def test_what_no_laboratory_can_do_is_not_run_on_the_real_slurm(files, variant, why):
    site = read(files() / "site")
    with pytest.raises(InputError, match=why):
        variant_task(site, site.replayable().jobs, variant).checked_for_slurm()


def test_a_changed_site_knows_when_its_nodes_are_switched_off(files):
    saving = changed(import_site(files() / "slurm.conf"), OFF).cluster.power_saving
    assert (saving.suspend_time, saving.boot_time, saving.shutdown_time) == (20, 15, 5)
