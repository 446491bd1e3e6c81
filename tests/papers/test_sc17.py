from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from sc17_simulator import OURS, STATE, THEIRS, Rules, Simulator
from sequence_samples import full_width_jobs, write_log

from schedlab.campaign.run.directory import RunDirectory
from schedlab.errors import InputError
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.cleaning import clean
from schedlab.workload.sampling import windows
from schedlab.workload.swf import read_swf
from schedlab_papers import sc17
from schedlab_papers.published_medians import Experiment, MedianTable
from schedlab_papers.sc17_tables import TABLE_4
from schedlab_papers.sequences import AS_DESCRIBED, AS_PUBLISHED, POLICIES, Setting, Variant, entry_of, scheduler_text

MODEL = TABLE_4.logs[0]
LEARNED = ("F1", "F2", "F3", "F4")
AD_HOC = ("FCFS", "WFP", "UNI", "SPT")
START = 0.002610247


@pytest.fixture(scope="module")
def one_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with one log: ten times sixteen jobs of 10 s, one of 100 s and one of 10 s."""
    directory = tmp_path_factory.mktemp("traces")
    write_log(full_width_jobs([10] * STATE + [100, 10], sequences=10), directory / MODEL.file)
    return directory


@pytest.fixture(scope="module")
def small(one_trace: Path) -> MedianTable:
    """Return Table 4 of it, with boxplots."""
    plots = one_trace / "plots"
    plots.mkdir()
    return medians(sc17.reproduce(one_trace, directory=one_trace / "runs", plots=plots))


def medians(reproduction: sc17.Reproductions) -> MedianTable:  # type: ignore[name-defined]
    """Return the table of medians."""
    (table,) = (table for table in reproduction.tables if isinstance(table, MedianTable))
    return table


def test_sc17_medians_are_of_mean_bounded_slowdowns_without_the_first_sixteen_jobs(small: MedianTable):
    for one in small.experiments[:3]:
        for policy in POLICIES:
            # All arrive at 0, where the logarithm in F1 to F4 is minus infinity: they keep the order of submission.
            short_first = policy in ("WFP", "UNI", "SPT", "SAF")
            for values, start in ((one.as_published, START), (one.as_described, 0)):
                first, second = 160 + 17 * start, (170 if short_first else 260) + 18 * start
                waits = (second, first) if short_first else (first, second)
                by_hand = ((waits[0] + 100) / 100 + (waits[1] + 10) / 10) / 2
                assert values[policy] == pytest.approx(by_hand, rel=1e-9), (one.setting, policy)


def test_sc17_says_which_traces_are_missing(small: MedianTable):
    absent = [(one.log, one.notes) for one in small.experiments if not one.as_published]
    assert absent == [(log.name, (f"trace not found: {log.file}",)) for log in TABLE_4.logs[1:] for _ in range(3)]


def test_sc17_says_that_the_scores_are_missing(one_trace: Path, small: MedianTable):
    first, _ = sc17.reproduce(one_trace, directory=one_trace / "runs").tables
    assert "score-distribution.csv.gz" in str(first)


def test_sc17_a_second_run_finds_the_results_of_the_first(one_trace: Path, small: MedianTable):
    run = RunDirectory.open(one_trace / "runs" / "sc17-as-published-estimates")
    before = run.files("results", ".parquet")
    again = medians(sc17.reproduce(one_trace, directory=one_trace / "runs"))
    assert again == small
    assert run.files("results", ".parquet") == before


def test_sc17_boxplots_are_written_for_each_log_that_is_there(one_trace: Path, small: MedianTable):
    assert [path.name for path in (one_trace / "plots").iterdir()] == ["sc17-model-256.png"]


def test_sc17_one_variant_alone_makes_no_runs_of_the_other(one_trace: Path, tmp_path: Path):
    table = medians(sc17.reproduce(one_trace, variant="as-described", directory=tmp_path, logs=["MODEL-256"]))
    assert sorted(path.name for path in tmp_path.glob("sc17-*")) == [
        "sc17-as-described-actual",
        "sc17-as-described-estimates",
    ]
    assert not table.experiments[0].as_published


def test_sc17_without_any_trace_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="none of the traces"):
        sc17.reproduce(tmp_path)


def test_sc17_a_log_that_the_paper_has_not_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"SC'17 has no log mira; known are anl-intrepid ctc-sp2 curie"):
        sc17.reproduce(tmp_path, logs=["mira"])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the run directories of the whole reproduction are."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def table(traces: Path, runs: Path) -> MedianTable:
    """Return the whole reproduction."""
    return medians(sc17.reproduce(traces, directory=runs))


def simulated(table: MedianTable) -> list[Experiment]:
    """Return the experiments on logs that are there."""
    return [one for one in table.experiments if one.as_published]


@pytest.mark.slow
def test_sc17_all_medians_are_those_of_table_4_to_the_last_digit(table: MedianTable):
    assert len(simulated(table)) >= 15
    for one in simulated(table):
        for policy, published in one.published.items():
            assert one.as_published[policy] == pytest.approx(published, abs=0.01 + 1e-9), (one.log, one.setting, policy)


UNTRIMMED = {"FCFS": 261.51, "WFP": 199.82, "UNI": 112.84, "SPT": 147.93}
"""Medians of all ten sequences of Curie with actual run times that the authors' simulator gives."""


@pytest.mark.slow
def test_sc17_without_the_trimming_the_medians_of_curie_are_larger(table: MedianTable):
    (curie,) = [one for one in simulated(table) if (one.log, one.setting) == ("Curie", "actual")]
    for policy, value in UNTRIMMED.items():
        assert curie.untrimmed[policy] == pytest.approx(value, abs=0.01), policy


@pytest.mark.slow
def test_sc17_the_best_learned_policy_beats_every_ad_hoc_one_in_all_experiments(table: MedianTable):
    for one in simulated(table):
        for values in (one.as_published, one.as_described):
            assert min(values[name] for name in LEARNED) < min(values[name] for name in AD_HOC), one


@pytest.mark.slow
def test_sc17_fcfs_without_backfilling_needs_no_estimates(table: MedianTable):
    fcfs = {
        setting: [one.as_published["FCFS"] for one in simulated(table) if one.setting == setting]
        for setting in ("actual", "estimates")
    }
    assert fcfs["actual"] == pytest.approx(fcfs["estimates"], rel=1e-9)


WHOLE_QUEUE = {
    "model 256, actual": (5846.86, 90.76, 30.63, 33.49, 36.98, 91.82, 25.81, 26.87, 21.39, 37.85),
    "model 256, estimates": (5846.86, 2353.67, 1011.47, 1319.91, 242.31, 59.11, 33.60, 30.72, 51.60, 37.85),
    "model 1024, actual": (10315.61, 100.06, 31.98, 31.58, 40.43, 18.03, 21.04, 17.19, 11.85, 21.46),
    "model 1024, estimates": (10315.61, 3006.70, 495.11, 1233.48, 64.50, 19.32, 13.53, 16.67, 17.77, 21.46),
}
"""Medians that another simulator, written apart from this one in another language, gives with the whole queue."""


@pytest.mark.slow
@pytest.mark.parametrize("experiment", WHOLE_QUEUE)
def test_sc17_whole_queue_agrees_with_an_independent_simulator(table: MedianTable, experiment: str):
    (one,) = [one for one in table.experiments if f"{one.log}, {one.setting}" == experiment]
    assert list(one.as_described.values()) == pytest.approx(WHOLE_QUEUE[experiment], abs=0.0051)


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "rules"), [(AS_PUBLISHED, THEIRS), (AS_DESCRIBED, OURS)], ids=str)
@pytest.mark.parametrize(
    ("log", "setting", "policy"),
    [
        ("model 256", "estimates", "SPT"),
        ("model 256", "backfilling", "F4"),
        ("model 256", "backfilling", "FCFS"),
        ("model 1024", "backfilling", "F2"),
        ("CTC SP2", "backfilling", "SAF"),
    ],
)
def test_sc17_every_sequence_agrees_with_a_plain_simulator_that_has_the_authors_rules_as_switches(
    traces: Path,
    runs: Path,
    table: MedianTable,
    log: str,
    setting: Setting,
    policy: str,
    variant: Variant,
    rules: Rules,
):
    known = "actual" if setting == "actual" else "estimates"
    frame = RunDirectory.open(runs / f"sc17-{variant.name}-{known}").results()
    ours = frame[(frame.workload == log) & (frame.scheduler == scheduler_text(policy, setting, variant))]
    plain = plain_values(traces, log, setting, policy, rules)
    assert list(ours.sort_values("window").mean_bounded_slowdown) == pytest.approx(plain, rel=1e-9)


def plain_values(traces: Path, name: str, setting: Setting, policy: str, rules: Rules) -> list[float]:
    """Return what the plain simulator gives for the sequences of a log."""
    (log,) = [log for log in TABLE_4.logs if log.name == name]
    jobs = read_swf(traces / log.file).replace(processors=log.processors)
    jobs = clean(jobs, entry_of(log, traces, "actual" if setting == "actual" else "estimates", AS_PUBLISHED)["clean"])
    if policy != "SPT":
        rules = replace(rules, exchange_sort=False)
    values = []
    for part in islice(windows(jobs), log.cut):
        estimate = part.run_time if setting == "actual" else part.requested_time
        scores = Scheduler.parse(POLICIES[policy]).policy.scores
        keys = scores(estimate, part.job_processors, part.submit_time, part.submit_time)
        simulator = Simulator(part, estimate, np.asarray(keys), rules, easy=setting == "backfilling")
        values.append(simulator.average_bounded_slowdown())
    return values
