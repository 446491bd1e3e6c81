"""Where the files of real sites are, if there are some."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def sites(traces: Path) -> Path:
    """Return the directory of real sites' Slurm configurations, beside the directory of traces, or skip."""
    directory = traces.parent / "slurm-sites"
    if not directory.is_dir():
        pytest.skip(f"no configurations of sites: there is no {directory}")
    return directory
