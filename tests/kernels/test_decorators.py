"""Compilation: where compiled code is kept, and that many processes can start cold at once."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from schedlab import kernels

PROGRAM = """
from schedlab.engine import simulate
from schedlab.workload.workload import Workload
jobs = Workload.from_columns(dict(submit_time=[0, 1], run_time=[5, 5], requested_processors=[1, 1]), processors=1)
print(simulate(jobs, "fcfs@actual").start_time.tolist())
"""

READER = """
import sys
from schedlab.workload.swf import read_swf
print(read_swf(sys.argv[1]).run_time.tolist())
"""


def run(*arguments, program=PROGRAM, **environment):
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_cache_can_be_switched_off_and_moved(monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDLAB_CACHE", "off")
    assert kernels.cache_directory() is None
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    assert kernels.cache_directory().startswith(str(tmp_path))


def test_a_cache_that_others_can_write_to_is_not_used(monkeypatch, tmp_path):
    monkeypatch.delenv("SCHEDLAB_CACHE", raising=False)
    monkeypatch.setattr(kernels.config, "CACHE_DIR", "")
    monkeypatch.setenv("SLURM_TMPDIR", str(tmp_path))
    directory = kernels.cache_directory()
    assert directory.startswith(str(tmp_path))
    next(tmp_path.iterdir()).chmod(0o777)
    assert kernels.cache_directory() is None


def test_decorating_leaves_the_users_own_numba_settings_alone():
    before = kernels.config.CACHE_DIR
    kernels.kernel(lambda x: x)
    assert before == kernels.config.CACHE_DIR


@pytest.mark.slow
def test_eight_processes_can_start_cold_at_once(tmp_path):
    """Concurrent first compilations into one cache have crashed workers (numba issue 4807).

    They compile the reader of logs, whose three kernels are soon done, so that many end in the same moment.
    """
    log, cache = tmp_path / "log.swf", tmp_path / "kernels"
    log.write_text("; MaxProcs: 1\n1 0 0 5 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n")
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: run(log, program=READER, SCHEDLAB_CACHE=str(cache)), range(8)))
    assert {(result.returncode, result.stdout) for result in results} == {(0, "[5]\n")}
    assert list(cache.rglob("*.kernel")), "the kernels were kept elsewhere"


@pytest.mark.slow
def test_everything_also_runs_as_plain_python():
    result = run(NUMBA_DISABLE_JIT="1")
    assert (result.returncode, result.stdout) == (0, "[0, 5]\n")


def test_kernels_that_share_functions_live_in_one_process() -> None:
    code = (
        "import schedlab as sl; jobs = sl.model.lublin(60, 32, rng=3, load=1.4);"
        "jobs = jobs.replace(requested_time=jobs.run_time + 5);"
        "[sl.simulate(jobs, text) for text in ('fcfs+slurm', 'saf+easy')]"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
