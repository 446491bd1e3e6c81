"""Files whose content is far larger than they are: refused in one sentence, before they fill the memory."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from schedlab import streams
from schedlab.errors import InputError
from schedlab.streams import read_whole
from schedlab.workload.swf import read_swf

MIB = 1 << 20


def test_json_that_is_only_brackets_is_refused_at_its_first_megabyte(tmp_path):
    path = tmp_path / "jobs.json.gz"
    path.write_bytes(gzip.compress(b"[" * (64 * MIB), compresslevel=1))
    tracemalloc.start()
    with pytest.raises(InputError, match="nested more than 64 levels deep"):
        read_whole(path)
    assert tracemalloc.get_traced_memory()[1] < 8 * MIB
    tracemalloc.stop()


def test_compressed_json_has_a_largest_size_and_plain_json_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "LARGEST_JSON", 2 * MIB)
    text = b'{"jobs": ["' + b"a" * (3 * MIB) + b'"]}'
    (tmp_path / "plain.json").write_bytes(text)
    (tmp_path / "packed.json").write_bytes(gzip.compress(text))
    assert read_whole(tmp_path / "plain.json") == text
    with pytest.raises(InputError, match=r"packed.json: the compressed file holds more than 2 MiB of JSON"):
        read_whole(tmp_path / "packed.json")


def test_brackets_within_texts_and_small_nested_documents_are_read(tmp_path):
    text = b'{"jobs": ["' + b"[" * (2 * MIB) + b'"]}'
    (tmp_path / "one.csv").write_bytes(b"a,b\n" + b"[" * (2 * MIB))
    (tmp_path / "two.json").write_bytes(b"[[[[1]]]]")
    assert len(read_whole(tmp_path / "one.csv")) == 2 * MIB + 4
    assert read_whole(tmp_path / "two.json") == b"[[[[1]]]]"
    (tmp_path / "three.json").write_bytes(text)
    with pytest.raises(InputError, match="nested more than 64 levels"):  # a text of a megabyte is no name of a job
        read_whole(tmp_path / "three.json")


def test_a_log_of_blank_lines_is_refused_at_once(tmp_path):
    path = tmp_path / "log.swf.gz"
    path.write_bytes(gzip.compress(b"; MaxProcs: 4\n" + b"\n" * (40 * MIB), compresslevel=1))
    with pytest.raises(InputError, match=r"log.swf.gz, line \d+: more than 1 MiB of blank lines: not a log"):
        read_swf(path)
