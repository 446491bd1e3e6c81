"""Files are written completely or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from schedlab.atomic import atomic_path
from schedlab.errors import OutputError


def test_the_file_appears_under_its_name_and_nothing_else_is_left(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "out.csv") as temporary:
        temporary.write_text("whole")
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".csv"
        assert not (tmp_path / "out.csv").exists()
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "whole"


def test_a_failure_keeps_the_old_file_and_removes_the_half_written_one(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("old")

    def fail_halfway() -> None:
        with atomic_path(tmp_path / "out.csv") as temporary:
            temporary.write_text("hal")
            raise KeyError

    with pytest.raises(KeyError):
        fail_halfway()
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "old"


def test_a_symbolic_link_stays_and_the_file_behind_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "real.bin").write_text("old")
    (tmp_path / "out.csv").symlink_to(tmp_path / "data" / "real.bin")
    with atomic_path(tmp_path / "out.csv") as temporary:
        assert temporary.suffix == ".csv"
        temporary.write_text("new")
    assert (tmp_path / "out.csv").is_symlink()
    assert (tmp_path / "data" / "real.bin").read_text() == "new"


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match=r"the directory .*nowhere does not exist"),
        atomic_path(tmp_path / "nowhere" / "x.csv"),
    ):
        pass


def test_a_directory_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="it is a directory"), atomic_path(tmp_path):
        pass


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_without_permission_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(OutputError, match=r"closed is not writable$"), atomic_path(closed / "x.csv"):
        pass


@pytest.mark.parametrize(
    ("number", "sentence"), [(errno.ENOSPC, "the disk is full"), (errno.EIO, os.strerror(errno.EIO))]
)
def test_an_error_of_the_disk_becomes_one_sentence(tmp_path: Path, number: int, sentence: str) -> None:
    def write() -> None:
        with atomic_path(tmp_path / "x.csv") as temporary:
            temporary.write_text("half")
            raise OSError(number, os.strerror(number))

    with pytest.raises(OutputError, match=rf"^cannot write .*x\.csv: {sentence}$"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_or_device_is_refused_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "out.csv"
    os.mkfifo(pipe)
    with pytest.raises(OutputError, match=r"out\.csv: it is a device or a pipe"), atomic_path(pipe):
        pass
    assert pipe.is_fifo()
