"""Versions of Numba with which kernels do not compile are refused when kernels are imported, in one sentence."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.numba_bounds import BEYOND, OLDEST, refuse_other


@pytest.mark.parametrize("version", ["0.63.1", "0.64.0", "0.66.0", "0.68.1", "0.68.2rc1"])
def test_versions_that_work_are_taken(version):
    refuse_other(version)


@pytest.mark.parametrize("version", ["0.61.0", "0.62.1", "0.63.0", "0.69.0", "0.69.0dev0", "1.0", "unknown"])
def test_other_versions_are_refused_in_one_sentence(version):
    with pytest.raises(InputError, match=f"numba {version} is installed") as caught:
        refuse_other(version)
    assert "\n" not in str(caught.value)


def test_the_installation_has_the_same_bounds():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    (bounds,) = (one for one in project["project"]["dependencies"] if one.startswith("numba"))
    oldest, beyond = (".".join(map(str, version)) for version in (OLDEST, BEYOND))
    assert bounds == f"numba>={oldest},<{beyond.removesuffix('.0')}"


def test_the_program_says_so_instead_of_failing_somewhere_in_a_kernel():
    pretend = "import numba; numba.__version__ = '0.62.1'; from schedlab.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", pretend, "demo"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "numba 0.62.1 is installed" in done.stderr
    assert "Traceback" not in done.stderr
