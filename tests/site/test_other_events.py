"""What-if with other node events than those of the site."""

from __future__ import annotations

import json

import pytest

from schedlab.cli.app import app
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.errors import InputError
from schedlab.site import Sweep, Variant, import_site, what_if
from schedlab.site.other_events import with_events

CONF = """ClusterName=lab
NodeName=n[1-2] CPUs=1
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-0
"""
HOUR = 3600
MORE = "NodeName=n3 CPUs=1"
DOWN = NodeEvents((NodeEvent(2 * HOUR, "drain", ("n1",)), NodeEvent(5 * HOUR, "up", ("n1",))))


def imported(tmp_path, conf=CONF, events=""):
    """Return a site where two jobs of an hour, of one core each, come at 0, 1, 2, 3, 4 and 5 h."""
    (tmp_path / "slurm.conf").write_text(conf)
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for number in range(12):
        times = [f"2026-04-01T{number // 2 + more:02d}:00:00" for more in (0, 0, 1)]
        lines.append("|".join([str(number + 1), "ann", "COMPLETED", *times, "60", "1", "batch"]))
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    files = []
    if events:
        (tmp_path / "own.csv").write_text(events)
        files = [tmp_path / "own.csv"]
    return import_site(tmp_path / "slurm.conf", tmp_path / "jobs.txt", node_events=files)


def starts(found, name):
    return [second // HOUR for second in found.schedules[name].start_time.tolist()]


def test_a_node_that_is_drained_delays_the_jobs_of_the_variant_alone(tmp_path):
    found = what_if(imported(tmp_path), node_events=DOWN, workers=1)
    (variant,) = found.ranking.variants
    assert variant.name == "2 node events (1 drain, 1 up) of n1"
    assert starts(found, "as it is") == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    # One node from 2 to 5 h runs three of the six jobs that come then; two nodes run the other five by 7 h.
    assert starts(found, variant.name) == [0, 0, 1, 1, 2, 3, 4, 5, 5, 6, 6, 7]


def test_own_events_stay_unless_they_are_left_out(tmp_path):
    site = imported(tmp_path, events="second,event,nodes\n0,drain,n2\n7200,up,n2\n")
    kept = what_if(site, node_events=DOWN, workers=1)
    dropped = what_if(site, node_events=DOWN, own_events=False, workers=1)
    (name,) = dropped.schedules.keys() - {"as it is"}
    assert name.endswith("without the site's own node events")
    assert starts(dropped, name) == [0, 0, 1, 1, 2, 3, 4, 5, 5, 6, 6, 7]
    (name,) = kept.schedules.keys() - {"as it is"}
    # One node from the begin until 5 h; then two.
    assert starts(kept, name) == [0, 1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 8]
    assert starts(kept, "as it is") == starts(dropped, "as it is")


def test_events_and_changes_go_together_and_may_name_new_nodes(tmp_path):
    conf = CONF.replace("Nodes=ALL", "Nodes=n[1-3]") + "NodeName=n3 CPUs=1 State=DOWN\n"
    site = imported(tmp_path, conf)
    events = NodeEvents((NodeEvent(0, "drain", ("n3",)),))
    found = what_if(site, ["NodeName=n3 CPUs=1 State=UNKNOWN"], node_events=events, workers=1)
    (variant,) = found.ranking.variants
    assert variant.changes
    assert variant.name.endswith("drain of n3 from second 0")


def test_events_that_cannot_happen_are_refused_before_anything_is_simulated(tmp_path):
    sweep = Sweep(imported(tmp_path).save(tmp_path / "site"))
    wrong = Variant("wrong", node_events=NodeEvents((NodeEvent(9, "down", ("n11",)),)))
    with pytest.raises(InputError, match=r"no node of the cluster is called 'n11' \(did you mean n1\?\)"):
        sweep.run([wrong], workers=1)
    with pytest.raises(InputError, match="no node events of its own"):
        sweep.run([Variant("none", own_events=False)], workers=1)
    with pytest.raises(InputError, match="give one at least"):
        sweep.run([Variant("empty", node_events=NodeEvents(()))], workers=1)
    with pytest.raises(InputError, match="--processors-only"):
        Sweep(sweep.directory, nodes=False).run([Variant("drained", node_events=DOWN)], workers=1)
    assert not list(sweep.answers.iterdir())


def test_jobs_on_failed_nodes_follow_the_sites_jobrequeue(tmp_path):
    failure = Variant("failure", node_events=NodeEvents((NodeEvent(1800, "down", ("n1",)),)))
    events = with_events(imported(tmp_path), failure).node_events
    assert (events.interrupted, events.requeue_delay) == ("requeue", 121)
    never = imported(tmp_path, CONF.replace("lab\n", "lab\nJobRequeue=0\n"))
    assert with_events(never, failure).node_events.interrupted == "lost"


def test_events_have_their_own_answers_and_events_outside_the_log_are_told(tmp_path):
    sweep = Sweep(imported(tmp_path).save(tmp_path / "site"))
    late = NodeEvents((NodeEvent(10**9, "drain", ("n1",)),))
    variants = [Variant("one", node_events=DOWN), Variant("two", node_events=late)]
    assert sweep.run(variants, workers=1) == 3
    assert sweep.run(variants, workers=1) == 0
    (told,) = sweep.answer(variants[1]).notes
    assert told.startswith("1 of 1 node event lies after the last submission (second 18,000")


def test_the_verb_reads_events_and_says_them_in_table_page_and_json(tmp_path, capsys):
    where = imported(tmp_path).save(tmp_path / "site")
    file = tmp_path / "maintenance.csv"
    file.write_text("second,event,nodes,end,announced\n7200,maintenance,n[1-2],10800,0\n")
    page = tmp_path / "page.html"
    words = ["site", "what-if", str(where), "--node-events", str(file), "-j", "1"]
    app([*words, "--report", str(page)], standalone_mode=False)
    said = "maintenance of n[1-2] from second 7200 to 10800"
    assert said in capsys.readouterr().out
    assert said in page.read_text()
    app([*words, "--json"], standalone_mode=False)
    assert said in json.dumps(json.loads(capsys.readouterr().out))
