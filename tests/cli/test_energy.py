"""energy, and the option --power of simulate, compare and campaigns."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

POWER = 'price = 0.5\ncurrency = "EUR"\n[[groups]]\nidle = 100\nbusy = 300\ncores = 4\n'
"""75 W of a processor that is held, 25 W of one that is not."""


@pytest.fixture
def power(tmp_path: Path) -> Path:
    path = tmp_path / "power.toml"
    path.write_text(POWER)
    return path


def test_simulate_and_compare_tell_the_energy(run, trace: Path, power: Path) -> None:
    # In order: 3 processors until 10, 4 until 20, 1 until 25: 75 processor-seconds held, 25 not.
    document = json.loads(run("simulate", trace, "-s", "fcfs", "--power", power, "--json").stdout)
    assert document["energy"]["joules"] == {"jobs": 75 * 75, "idle": 25 * 25, "base": 0, "overhead": 0}
    assert document["energy"]["energy_cost"] == pytest.approx(0.5 * (75 * 75 + 25 * 25) / 3.6e6)
    assert "  power             mean 250 W, max 300 W" in run("simulate", trace, "-s", "fcfs", "--power", power).stdout
    table = json.loads(run("compare", trace, "-s", "fcfs", "-s", "easy", "--power", power, "--json").stdout)["metrics"]
    # EASY ends at 20: 75 held, 5 not.
    assert table["fcfs+easy"]["energy_kwh"] == pytest.approx((75 * 75 + 5 * 25) / 3.6e6)
    assert table["fcfs"]["energy_kwh"] == pytest.approx((75 * 75 + 25 * 25) / 3.6e6)


def test_energy_tells_that_of_a_saved_schedule_and_writes_tables_and_pages(run, trace: Path, power: Path) -> None:
    run("simulate", trace, "-s", "fcfs", "-o", "out.parquet")
    result = run(
        *("energy", "out.parquet", "--power", power, "--csv", "watts.csv", "--jobs", "jobs.csv"),
        *("--plot", "power.svg", "--report", "page.html"),
    )
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("three under fcfs\n  energy ")
    assert pd.read_csv("watts.csv").to_numpy().tolist() == [[0, 250], [10, 300], [20, 150], [25, 150]]
    assert pd.read_csv("jobs.csv")["kwh"].tolist() == pytest.approx([2250 / 3.6e6, 3000 / 3.6e6, 375 / 3.6e6])
    page = Path("page.html").read_text()
    assert "Power and energy" in page
    assert "of which 10% went into what no job held" in page
    assert Path("power.svg").stat().st_size > 1_000


def test_energy_tells_that_of_a_log_as_it_was_recorded(run, trace: Path, power: Path) -> None:
    assert "three as submitted, each job started at once" in run("energy", trace, "--power", power).stdout


def test_results_of_a_campaign_have_the_energy(run, trace: Path, power: Path) -> None:
    Path("study.toml").write_text(
        f'name = "study"\nschedulers = ["fcfs"]\n[metrics]\nmain = "energy_kwh"\n'
        f'[[workloads]]\ntrace = "{trace.name}"\npower = "{power.name}"\n'
    )
    assert run("campaign", "run", "study.toml", "--workers", "1").exit_code == 0
    run("campaign", "results", "study.toml", "-o", "all.csv")
    assert pd.read_csv("all.csv")["energy_kwh"].tolist() == pytest.approx([(75 * 75 + 25 * 25) / 3.6e6])
    text = Path("study.toml").read_text()
    Path("study.toml").write_text(f"{text}enforce_cap = true\n")
    power.write_text(f"cap = 300\n{POWER}")
    assert run("campaign", "run", "study.toml", "--workers", "1").exit_code == 0
    run("campaign", "results", "study.toml", "-o", "capped.csv")
    assert pd.read_csv("capped.csv")["seconds_above_cap"].tolist() == [0]
    Path("study.toml").write_text(text)
    before = json.loads(pd.read_csv("all.csv")["specification"][0])["machine"]
    power.write_text(POWER.replace("300", "310"))
    assert run("campaign", "run", "study.toml", "--workers", "1").exit_code == 0
    run("campaign", "results", "study.toml", "-o", "new.csv")
    assert json.loads(pd.read_csv("new.csv")["specification"][0])["machine"] != before


def test_no_job_starts_above_a_cap_that_is_enforced(run, trace: Path, power: Path) -> None:
    # The idle machine draws 100 W, a processor 50 W more: under 249 W, jobs 1 and 2 could never start.
    power.write_text(f"cap = 249\n{POWER}")
    refused = run("simulate", trace, "-s", "easy", "--power", power, "--enforce-cap")
    assert refused.exit_code == 1
    assert "job 1 draws 150 W more than the idle machine, and the cap of 249 W leaves 149 W" in refused.stderr
    # Two jobs of two processors run together from 1 to 10, at 300 W; under the cap they do not.
    lines = [f"{n} {s} -1 {t} {q} -1 -1 {q} {t} -1 1 1 1 1 1 1 -1 -1" for n, s, t, q in ((1, 0, 10, 2), (2, 1, 10, 2))]
    trace.write_text("\n".join(["; MaxProcs: 4", *lines, ""]))
    words = ("simulate", trace, "-s", "easy", "--power", power, "--json")
    free, capped = (json.loads(run(*words, *more).stdout)["energy"] for more in ([], ["--enforce-cap"]))
    assert (free["seconds_above_cap"], capped["seconds_above_cap"]) == (9, 0)
    assert "--enforce-cap needs the power model" in run("simulate", trace, "--enforce-cap").stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[groups]]\nidle = -1\nbusy = 2\n", "idle is -1.0: must be a number of watts, 0 or more"),
        ('[[groups]]\nidle = 1\nbusy = 2\nnodes = "n1"\n', "the machine is a number of processors"),
        ('[[groups]]\nidle = 1\nbusy = 2\nfeature = "gpu"\n', "the machine is a number of processors"),
        ('price = "short.csv"\n[[groups]]\nidle = 1\nbusy = 2\n', "add rows, or let the series repeat"),
    ],
)
def test_a_power_file_that_does_not_fit_ends_with_one_sentence(run, trace: Path, power: Path, text, told) -> None:
    Path("short.csv").write_text("second,price\n0,1\n5,2\n")
    power.write_text(text)
    result = run("simulate", trace, "--power", power)
    assert result.exit_code == 1
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


def test_switch_off_says_what_it_saves_and_what_it_costs(run, trace: Path, power: Path) -> None:
    # A node of one core: 100 W idle, 300 W busy, 0 W off. Jobs from 0 to 10 and, without a boot, from 100 to 110: 6 kJ
    # and 9 kJ idle. Off after 20 s and booted in 15 s: 6 kJ, 2 kJ idle, 4.5 kJ for the boot, and 7.5 s of wait.
    lines = [f"{number} {submit} -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1" for number, submit in ((1, 0), (2, 100))]
    trace.write_text("\n".join(["; MaxProcs: 1", *lines, ""]))
    power.write_text('price = 0.5\ncurrency = "EUR"\n[[groups]]\nidle = 100\nbusy = 300\n')
    Path("one.toml").write_text('[[groups]]\nnodes = "n1"\ncores = 1\n')
    words = ("switch-off", trace, "--cluster", "one.toml", "--power", power, "--after", "20s", "--boot", "15s")
    document = json.loads(run(*words, "--shutdown", "0s", "--json").stdout)
    never, sleeps = document["switched_off"]
    assert (never["energy_kwh"], sleeps["energy_kwh"]) == pytest.approx((15_000 / 3.6e6, 12_500 / 3.6e6))
    assert (never["mean_wait"], sleeps["mean_wait"], sleeps["boots"]) == (0, 7.5, 1)
    assert document["sentences"][0] == (
        "Switch idle nodes off after 20s: saves 0.000694 kWh (16.7%), 0.000347 EUR; costs 1 job 15 s of boot, 7.5 s in "
        "the mean of all. The mean wait is 7.5 s instead of 0 s."
    )
    assert "costs 1 job 15 s of boot" in run(*words).stdout
    Path("one.toml").write_text("processors = 4\n")
    assert "the cluster has no nodes that could be switched off" in run(*words).stderr


def test_defer_says_what_waiting_saves_and_what_it_costs(run, trace: Path, power: Path) -> None:
    Path("price.csv").write_text("second,price\n0,3\n100,1\n200,3\n1000,3\n")
    power.write_text('price = "price.csv"\n[[groups]]\nidle = 0\nbusy = 1000\n')
    document = json.loads(
        run(
            *("defer", trace, "-s", "fcfs", "--power", power, "--tolerance", "0s", "--tolerance", "200s"),
            *("--plot", "pareto.svg", "--json"),
        ).stdout
    )
    at_once, later = document["tolerances"]
    # 3 x 10 + 4 x 10 + 1 x 5 processor-seconds of 1 kW, at 3 and at 1 per kWh.
    assert (at_once["energy_cost"], later["energy_cost"]) == pytest.approx((75 * 3 / 3600, 75 / 3600))
    assert later["mean_held_back"] == (100 + 99 + 98) / 3
    assert Path("pareto.svg").stat().st_size > 1_000


def test_switch_off_takes_what_slurm_conf_says(run, trace: Path, power: Path) -> None:
    lines = [f"{number} {submit} -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1" for number, submit in ((1, 0), (2, 100))]
    trace.write_text("\n".join(["; MaxProcs: 1", *lines, ""]))
    power.write_text("[[groups]]\nidle = 100\nbusy = 300\n")
    Path("slurm.conf").write_text(
        "ClusterName=one\nSelectType=select/cons_tres\nNodeName=n1 CPUs=1\nPartitionName=all Nodes=ALL Default=YES\n"
        "SuspendTime=20\nResumeTimeout=15\nSuspendTimeout=5\n"
    )
    words = ("switch-off", trace, "--cluster", "slurm.conf", "--power", power, "--json")
    result = run(*words)
    assert "slurm.conf: nodes are switched off after 20s (SuspendTime)" in result.stderr
    assert [one["mean_wait"] for one in json.loads(result.stdout)["switched_off"]] == [0, 7.5]
    shorter = json.loads(run(*words, "--boot", "5s").stdout)["switched_off"][1]
    assert shorter["mean_wait"] == 2.5


def test_switch_off_asks_of_a_site_what_it_would_save(run, power: Path) -> None:
    power.write_text("[[groups]]\nidle = 100\nbusy = 300\n")
    Path("slurm.conf").write_text(
        "ClusterName=one\nSelectType=select/cons_tres\nNodeName=n1 CPUs=1\nPartitionName=all Nodes=ALL Default=YES\n"
    )
    Path("jobs.txt").write_text(
        "JobID|State|Submit|Start|End|AllocCPUS|Timelimit|User|Account|Partition|NNodes|NodeList\n"
        "1|COMPLETED|2026-04-01T08:00:00|2026-04-01T08:00:00|2026-04-01T08:10:00|1|00:10:00|ann|a|all|1|n1\n"
        "2|COMPLETED|2026-04-01T10:00:00|2026-04-01T10:00:00|2026-04-01T10:10:00|1|00:10:00|ann|a|all|1|n1\n"
    )
    assert run("site", "import", "--conf", "slurm.conf", "--sacct", "jobs.txt", "-o", "site").exit_code == 0
    result = run("switch-off", "site", "--power", power, "--after", "10m", "--boot", "100s", "--json")
    assert result.exit_code == 0, result.stderr
    never, sleeps = json.loads(result.stdout)["switched_off"]
    # Idle from 8:10 to 10:00, which Slurm sees a second later: off from 8:20:31 on, booted for 100 s; the job begins
    # with the half minute, 20 s later.
    assert never["energy_of_idle_kwh"] == pytest.approx(100 * 6_600 / 3.6e6)
    assert sleeps["energy_of_idle_kwh"] == pytest.approx(100 * 651 / 3.6e6)
    assert sleeps["boots"] == 1
    assert "give --cluster FILE, or the directory of a site" in run("switch-off", "jobs.txt", "--power", power).stderr
