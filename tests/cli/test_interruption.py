"""Ctrl-C is answered at once, whatever runs."""

from __future__ import annotations

import os
import signal
import threading

import pytest
import typer

from schedlab.cli import interruption
from schedlab.cli.interruption import WAITING, answered_at_once
from schedlab.cli.terminal import resumable


def test_while_compiled_code_runs_ctrl_c_is_answered_and_a_second_one_ends(monkeypatch):
    """The main thread here waits where no signal is handled, as in a compiled simulation: a handler never runs."""
    monkeypatch.setattr(interruption, "SOON", 0.01)
    said, spoken, ended = [], threading.Event(), threading.Event()

    def say(text):
        said.append(text)
        spoken.set()

    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with answered_at_once(say, ended.set):
            os.kill(os.getpid(), signal.SIGINT)
            assert spoken.wait(10)
            assert not ended.is_set()
            os.kill(os.getpid(), signal.SIGINT)
            assert ended.wait(10)
    finally:
        signal.signal(signal.SIGINT, before)
    assert said == [WAITING]
    assert signal.set_wakeup_fd(-1) == -1  # as before


def interrupted_run():
    with resumable("here"):
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(10)


def test_a_run_that_ends_at_once_says_what_it_keeps_and_not_that_it_waits(capsys, monkeypatch):
    monkeypatch.setattr(interruption, "SOON", 60)  # on a busy host, at once may take longer than usual
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where tests run in the background
    try:
        with pytest.raises(typer.Exit) as stop:
            interrupted_run()
    finally:
        signal.signal(signal.SIGINT, before)
    assert stop.value.exit_code == 130
    err = capsys.readouterr().err
    assert "interrupted; what has been simulated is in here" in err
    assert WAITING not in err
