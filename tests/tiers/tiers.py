"""Which tests are slow: those that took many CPU seconds, as plain Python, when `make tiers` was run last.

What it found stands in `slow_tests.txt`; `pytest.mark.slow` is for tests that are slow by their nature, such as those
of real traces. A test that takes too long, and is not among either, fails.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Generator
from pathlib import Path

import numba
import pytest

RECORDED = Path(__file__).with_name("slow_tests.txt")

QUICK = 0.5
"""CPU seconds that a quick test may take as plain Python, with the processes that it starts.

Of 13,000 tests, the 500 that take longer take more than half of the time.
"""

TOO_LONG = 9
"""CPU seconds for which another fails: a busy machine, or the first use of a fixture, takes more than usual.

Tests of the whole tree, which lie directly in `tests/`, may take as long and be quick: they are what a change breaks.
"""

CPU_SECONDS = "CPU seconds"
BEGUN = pytest.StashKey[float]()


def recording() -> bool:
    """Return whether slow tests are to be recorded."""
    return "SCHEDLAB_RECORD_SLOW" in os.environ


def cpu_seconds() -> float:
    """Return what this process, and those that it waited for, have used."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def recorded() -> set[str]:
    """Return the names of tests that were slow."""
    return set(RECORDED.read_text(encoding="utf-8").splitlines()) if RECORDED.exists() else set()


def pytest_configure(config: pytest.Config) -> None:
    """Record which tests are slow, if that is asked for: in the process that hears of all."""
    if recording():
        signal.signal(signal.SIGPROF, _stop)
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(Recorder())


def _stop(*_: object) -> None:
    pytest.fail(f"more than {TOO_LONG} CPU seconds", pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what was slow."""
    slow = set() if recording() else recorded()
    for item in items:
        if item.nodeid in slow:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Note what had been used before a test, and end it while slow ones are recorded."""
    item.stash[BEGUN] = cpu_seconds()
    if not recording():
        return (yield)
    signal.setitimer(signal.ITIMER_PROF, TOO_LONG)
    try:
        return (yield)
    finally:  # what pytest does after the last test is not the test's
        signal.setitimer(signal.ITIMER_PROF, 0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell how long a test took, and let one fail that takes too long and is not among the slow ones.

    What ends after it, such as a browser for many tests, does not count.
    """
    report = yield
    if call.when == "call":
        used = cpu_seconds() - item.stash[BEGUN]
        item.user_properties.append((CPU_SECONDS, used))
        quick = numba.config.DISABLE_JIT and not recording() and "slow" not in item.keywords  # type: ignore[attr-defined]
        if quick and report.passed and used > TOO_LONG:
            report.outcome = "failed"
            report.longrepr = f"{used:.0f} CPU seconds: make it faster, or let `make tiers` record what is slow"
    return report


class Recorder:
    """Writes down which tests were slow; those that did not run stay as they were."""

    def __init__(self) -> None:
        self._slow = recorded()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what a test took."""
        if report.when == "teardown":
            used = dict(report.user_properties).get(CPU_SECONDS, 0)
            of_the_tree = report.nodeid.partition("::")[0].count("/") == 1
            slow = used > (TOO_LONG if of_the_tree else QUICK)
            (self._slow.add if slow else self._slow.discard)(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the list."""
        RECORDED.write_text("".join(f"{name}\n" for name in sorted(self._slow)), encoding="utf-8")
