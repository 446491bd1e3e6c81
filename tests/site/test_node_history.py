"""What happened to a site's nodes: read from what Slurm prints, part of a site, of its replay and of what-if."""

from __future__ import annotations

import json

import pytest

import schedlab as sl
from schedlab.cli import main
from schedlab.errors import InputError
from schedlab.site import import_site, read, what_if
from schedlab.site.calibration import calibrate
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Sweep
from schedlab.site.variant_task import variant_task
from schedlab.site.variants import Variant

CONF = """
ClusterName=lab
SelectType=select/cons_tres
NodeName=n[1-2] CPUs=4
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-0
"""
HEAD = "JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition|Reservation"
SACCT = f"""{HEAD}
1|ann|COMPLETED|2026-04-01T10:00:00|2026-04-01T10:00:00|2026-04-01T11:00:00|60|4|batch|
2|bob|COMPLETED|2026-04-01T10:00:10|2026-04-01T11:00:00|2026-04-01T12:00:00|60|4|batch|
3|ann|COMPLETED|2026-04-01T10:00:20|2026-04-01T12:00:00|2026-04-01T12:30:00|60|4|batch|course
"""
EVENTS = """Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User
lab|n2|2026-04-01T09:00:00|2026-04-01T12:00:00|DOWN*|Not responding|slurm(64030)
"""
RESERVED = """ReservationName=course StartTime=2026-04-01T13:00:00 EndTime=2026-04-01T15:00:00 Nodes=n2
   Flags=SPEC_NODES Users=ann
"""


@pytest.fixture
def files(tmp_path):
    texts = {"slurm.conf": CONF, "jobs.txt": SACCT, "events.txt": EVENTS, "resv.txt": RESERVED}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def site_of(files, *events):
    return import_site(files / "slurm.conf", files / "jobs.txt", node_events=[files / name for name in events])


def waits(site):
    return calibrate(site).simulated.wait_time.tolist()


def test_a_node_that_was_down_is_out_of_service_in_the_replay(files):
    # Alone on n1, the jobs follow each other; with n2, the second starts at once.
    assert waits(site_of(files)) == [0, 0, 3581]
    site = site_of(files, "events.txt")
    assert [event.event for event in site.node_events] == ["drain", "up"]
    assert waits(site) == [0, 3591, 7180]


def test_the_records_of_a_reservation_put_its_jobs_there(files):
    assert waits(site_of(files, "resv.txt")) == [0, 0, 10780]


def test_node_events_are_kept_with_the_site_and_count_in_every_variant(files):
    site = site_of(files, "events.txt", "resv.txt")
    assert read(site.save(files / "site")) == site
    found = what_if(site, ["PriorityType=priority/basic"], workers=1)
    # The second job starts 3 s after the main pass of the full minute, in which the first one has not ended yet.
    assert [one.wait_time.tolist() for one in found.schedules.values()] == [[0, 3593, 10780]] * 2
    sweep = Sweep(files / "site")
    assert sweep.run([Variant("laf", policy="laf")], [SiteSample()], workers=1) == 2
    answer = sweep.answer(Variant("laf", policy="laf"))
    assert answer.schedule.wait_time.tolist() == [0, 3593, 10780]


def test_other_events_are_another_site_whose_answers_are_its_own(files):
    site_of(files, "events.txt").save(files / "site")
    first = Sweep(files / "site")
    first.run([], workers=1)
    site_of(files, "resv.txt").save(files / "site")
    assert Sweep(files / "site").answer(Variant("as it is")) is None


def test_a_change_that_takes_a_node_away_takes_its_events_away(files):
    site = site_of(files, "events.txt")
    found = what_if(site, ["NodeName=n[1-2] CPUs=8", "PartitionName=batch Nodes=n1"], workers=1)
    assert len(found.schedules) == 2


def test_jobs_on_nodes_that_go_down_are_requeued_or_lost_as_jobrequeue_says(files):
    (files / "down.csv").write_text("second,event,nodes\n1800,down,n1\n1900,up,n1\n")
    assert site_of(files, "down.csv").node_events.interrupted == "requeue"
    lost = what_if(site_of(files, "down.csv"), ["JobRequeue=0"], workers=1).schedules
    ends = [one.end_time.tolist() for one in lost.values()]
    assert ends[0][0] > 3600
    assert ends[1][0] == 1800


def test_processors_alone_have_no_nodes_that_fail_and_the_page_says_so(files):
    found = calibrate(site_of(files, "events.txt"), nodes=False)
    assert found.simulated.wait_time.tolist() == [0, 0, 3581]
    assert "What happened to the nodes was not simulated either." in found.caveats


def test_a_site_with_switches_keeps_them_under_another_policy_and_goes_without_as_processors(files):
    (files / "slurm.conf").write_text(f"{CONF}TopologyPlugin=topology/tree\n")
    (files / "topology.conf").write_text("SwitchName=s1 Nodes=n[1-2]\n")
    site = site_of(files)
    scheduler = variant_task(site, site.jobs, Variant("saf", policy="saf")).scheduler
    assert scheduler.text == "saf+slurm(tick=1),placement=switches"
    assert calibrate(site, nodes=False).simulated.placement is None


def test_the_calibration_says_what_it_has_of_the_nodes_and_which_jobs_ran_in_reservations(files):
    without, with_all = (calibrate(site_of(files, *names)).caveats for names in ((), ("events.txt", "resv.txt")))
    assert any("holds, nodes that were down" in text for text in without)
    assert any("1 job ran in reservations (course)" in text for text in without)
    assert any("(1 drain, 1 reservation)" in text for text in with_all)
    assert not any("ran in reservations" in text for text in with_all)


def test_who_may_not_use_a_reservation_is_left_out_and_counted(files):
    (files / "resv.txt").write_text(RESERVED.replace("Users=ann", "Users=bob"))
    (note,) = site_of(files, "resv.txt").replayable().notes()
    assert note.startswith("1 job left out: it asks for the reservation 'course'")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (EVENTS.replace("n2", "n7"), "no node of the cluster is called 'n7'"),
        (EVENTS.replace("DOWN*", "TIRED"), "events.txt, line 2: the state 'TIRED' is none that nodes of Slurm have"),
        (
            EVENTS.replace("Not resp", "Not\nresp"),
            "events.txt, line 2: 6 columns instead of 7: the line is truncated, or",
        ),
        (EVENTS.replace("TimeEnd", "Ende"), "events.txt: the column TimeEnd is missing"),
        (EVENTS.replace("2026-04-01T12", "2026-04-01T02"), "TimeEnd '2026-04-01T02:00:00' lies before TimeStart"),
        (EVENTS.replace("2026-04-01T09:00:00", "soon"), "TimeStart is 'soon', not a time"),
    ],
)
def test_events_that_are_not_understood_are_named(files, text, sentence):
    (files / "events.txt").write_text(text)
    with pytest.raises(InputError, match=sentence):
        site_of(files, "events.txt")


def test_records_of_nodes_in_service_are_left_out_and_counted_in_the_notes_of_the_site(files):
    (files / "events.txt").write_text(EVENTS.replace("DOWN*", "IDLE+CLOUD+POWERED_DOWN"))
    site = site_of(files, "events.txt")
    assert waits(site) == waits(site_of(files))
    told = "events.txt: records of nodes that were off to save power, which a job wakes, left out: 1"
    assert told in site.settings.notes


def test_node_events_without_jobs_are_refused(files):
    with pytest.raises(InputError, match="node events need jobs"):
        import_site(files / "slurm.conf", node_events=[files / "events.txt"])


def run(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["schedlab", *map(str, words)])
    with pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code


def test_the_command_line_takes_several_files_and_prints_how_many_events_there_are(files, capsys, monkeypatch):
    given = ["--node-events", files / "events.txt", "--node-events", files / "resv.txt"]
    conf = ["--conf", files / "slurm.conf", "--sacct", files / "jobs.txt"]
    run(monkeypatch, "site", "import", *conf, *given, "-o", files / "site")
    assert "node events: 3" in capsys.readouterr().out
    run(monkeypatch, "site", "show", files / "site", "--json")
    assert json.loads(capsys.readouterr().out)["node_events"] == 3


def test_downtimes_become_node_events_for_any_simulation(files, capsys, monkeypatch):
    out = files / "out.csv"
    run(monkeypatch, "cluster", "downtimes", files / "events.txt", "--epoch", "1775030400", "-o", out)
    assert [one.event for one in sl.cluster.NodeEvents.read(out)] == ["down", "up"]
    assert "2 node events" in capsys.readouterr().err


def test_records_that_are_left_out_are_counted_on_the_terminal(files, capsys, monkeypatch):
    power = "lab|n1|2026-04-01T09:00:00|2026-04-01T12:00:00|IDLE~|Powered down after SuspendTimeout|slurm(64030)\n"
    (files / "events.txt").write_text(EVENTS + 2 * power)
    run(monkeypatch, "cluster", "downtimes", files / "events.txt", "--epoch", "1775030400", "-o", files / "out.csv")
    told = capsys.readouterr().err
    assert "off to save power, which a job wakes, left out: 2" in told
    assert "2 node events" in told
