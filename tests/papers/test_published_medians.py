from __future__ import annotations

import pandas as pd
import pytest

from schedlab_papers.published_medians import BY_HAND, TRIMMED, Experiment, MedianTable, experiments_of
from schedlab_papers.sequences import ALL_SETTINGS, POLICIES, SequenceLog

PUBLISHED = dict.fromkeys(ALL_SETTINGS, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0))


def results(values: list[float]) -> pd.DataFrame:
    """Return results in which every policy has these values, one for each sequence."""
    rows = [
        ("log", setting, policy, window, value)
        for setting in ALL_SETTINGS
        for policy in POLICIES
        for window, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["workload", "setting", "policy", "window", "mean_bounded_slowdown"])


def experiment(factor: float) -> Experiment:
    """Return an experiment in which the whole queue divides every median by a factor."""
    seen = {policy: float(number) for number, policy in enumerate(POLICIES, start=1)}
    whole = {policy: value / factor for policy, value in seen.items()}
    published = dict(zip(POLICIES, PUBLISHED["actual"], strict=False))
    return Experiment("log", "actual", published, as_published=seen, as_described=whole)


def test_the_largest_values_are_dropped_where_the_authors_dropped_them():
    log = SequenceLog("log", "log.swf", 4, PUBLISHED, trimmed={"actual": {"FCFS": 2}})
    both = {"as-published": results([9, 1, 5, 3, 7]), "as-described": results([2, 4])}
    actual, estimates, _ = experiments_of(log, both)
    assert (actual.as_published["FCFS"], actual.untrimmed["FCFS"], actual.as_published["WFP"]) == (3, 5, 5)
    assert (actual.as_described["FCFS"], actual.notes) == (3, (TRIMMED,))
    assert (estimates.as_published["FCFS"], estimates.untrimmed, estimates.notes) == (5, {}, ())


def test_sequences_left_out_by_hand_are_noted():
    log = SequenceLog("log", "log.swf", 4, PUBLISHED, skip=(0,))
    assert next(experiments_of(log, {"as-published": results([1])})).notes == (BY_HAND,)


def test_a_variant_that_was_not_simulated_has_no_line():
    one = next(experiments_of(SequenceLog("log", "log.swf", 4, PUBLISHED), {"as-described": results([1])}))
    assert [name for name, _ in one.lines()] == ["published", "as described"]
    assert one.differences() == {}


def test_medians_agree_up_to_the_last_digit():
    close = {"FCFS": 1.01, "WFP": 1.99, "UNI": 3.011}
    table = MedianTable("Title", (Experiment("log", "actual", {"FCFS": 1.0, "WFP": 2.0, "UNI": 3.0}, close),))
    assert table.agreement() == (2, 3)
    assert "2 of 3 medians are those of the authors to 0.01; the largest difference is 0.011." in table.summary()


def test_the_summary_says_what_the_whole_queue_changes():
    table = MedianTable("Title", (experiment(2), experiment(8)), names={"SPT": "SPF"})
    summary = table.summary()
    assert "geometric means of 2 experiments): FCFS 4.0, WFP 4.0, UNI 4.0, SPF 4.0, F4 4.0" in summary
    # FCFS has 1, the best of F1 to F4 has 5, SAF 9.
    assert "by a factor of 0.2 as published and 0.2 as described" in summary
    assert summary.endswith("in 0 and 0 of the experiments.")


def test_each_experiment_has_its_lines_and_notes_below_the_table():
    missing = Experiment("other", "actual", {"FCFS": 1.0}, notes=("not there",))
    lines = str(MedianTable("Title", (experiment(2), missing), names={"SPT": "SPF"})).splitlines()
    assert lines[0] == "Title"
    assert lines[2].split() == ["experiment", *("SPF" if name == "SPT" else name for name in POLICIES), "notes"]
    assert [line.split("  ")[1].strip() for line in lines[5:8]] == ["published", "as published", "as described"]
    assert lines[8].split() == ["other,", "actual", "1"]
    assert lines[9].split()[:3] == ["published", "1.00", "-"]
    assert "1  not there" in lines


def test_the_dictionary_holds_every_number_and_the_difference():
    document = MedianTable("Title", (experiment(2),)).to_dict()
    assert len(document["rows"]) == len(POLICIES)
    row = document["rows"][1]
    assert (row["experiment"], row["scheduler"], row["published"]) == ("log, actual", "WFP", 2.0)
    assert (row["as_published"], row["as_described"], row["difference"]) == (2.0, 1.0, pytest.approx(0))
    assert document["rows"][-1]["published"] is None
