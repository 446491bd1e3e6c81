"""What the verbs tell about their progress where there is no terminal."""

from __future__ import annotations

import pytest
import typer

from schedlab.cli import terminal


@pytest.fixture
def clock(monkeypatch):
    """Give a clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_behind_the_first_simulation_is_said_how_long_it_took_and_an_estimate_behind_others(clock, capsys):
    """The first of 17 takes 30 s, in which kernels may have been compiled; ten more take 200 s: six take 2 minutes."""
    with terminal.campaign_bar() as tell:
        clock[0] += 30
        tell(1, 0, 17)
        clock[0] += 20
        tell(2, 0, 17)
        clock[0] += 180
        tell(10, 1, 17)
    assert capsys.readouterr().err.splitlines() == [
        "1 of 17 simulated in 30 s: the next ones mostly take less, as the first compile kernels",
        "11 of 17 simulated, 1 failed, about 2 min left",
    ]


def test_a_resumed_campaign_counts_what_it_simulates_itself_and_says_how_many_were_there(clock, capsys):
    """Of 61, 44 are there: 17 are left, and go as above."""
    with terminal.campaign_bar() as tell:
        clock[0] += 30
        tell(45, 0, 61, 44)
        clock[0] += 20
        tell(46, 0, 61, 44)
        clock[0] += 180
        tell(54, 1, 61, 44)
    assert capsys.readouterr().err.splitlines() == [
        "1 of 17 simulated (44 of 61 were there before) in 30 s: the next ones mostly take less, as the first compile "
        "kernels",
        "11 of 17 simulated (44 of 61 were there before), 1 failed, about 2 min left",
    ]


def test_the_command_of_a_campaign_with_code_of_ones_own_says_where_that_is_and_what_allows_it(monkeypatch):
    monkeypatch.setattr("sys.argv", ["schedlab", "campaign", "run", "my study.toml"])
    monkeypatch.setenv("PYTHONPATH", ".")
    monkeypatch.setenv("SCHEDLAB_ALLOW_IMPORT", "mine:Half other")
    plain = "schedlab campaign run 'my study.toml'"
    assert terminal.command_line() == plain
    assert terminal.command_line(["mine:Half"]) == f"PYTHONPATH=. SCHEDLAB_ALLOW_IMPORT='mine:Half other' {plain}"
    monkeypatch.delenv("SCHEDLAB_ALLOW_IMPORT")
    assert terminal.command_line(["mine:Half"]) == f"PYTHONPATH=. {plain}"


def test_what_is_over_soon_is_not_worth_a_line(clock, capsys):
    with terminal.campaign_bar() as tell:
        clock[0] += 1
        tell(1, 0, 3)
    assert capsys.readouterr().err == ""


def test_an_interruption_says_where_the_results_are_and_ends_with_the_code_of_shells(capsys):
    with pytest.raises(typer.Exit) as stop, terminal.resumable("site/what-if"):
        raise KeyboardInterrupt
    assert stop.value.exit_code == 130
    assert "what has been simulated is in site/what-if, and the same command continues" in capsys.readouterr().err
