"""Documents that are read back: bounded, and checked as a whole."""

from __future__ import annotations

import gzip
import json

import pytest
from pydantic import BaseModel, TypeAdapter

from schedlab.documents import checked, parse_json, parse_toml, read_bytes, read_json, read_toml
from schedlab.errors import InputError
from schedlab.streams import open_input, read_whole
from schedlab.wording import LONGEST_MESSAGE, bounded, did_you_mean, shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "it is not JSON"),
        ("[" * 70 + "]" * 70, "nested more than 64 levels deep"),
        ("[" * 100_000, "nested more than 64 levels deep"),
        ('{"a":' * 100_000, "nested more than 64 levels deep"),
        ("[" + "9" * 5_000 + "]", "a number has 5,000 digits"),
        (r'["\ud800"]', "has a lone surrogate"),
        (r'{"\udfff": 1}', "has a lone surrogate"),
        (b"\xff", "not text in UTF-8"),
    ],
)
def test_json_that_would_do_harm_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_json(text)


def test_json_of_usual_form_is_read():
    document = {"a": [1, 2.5, None, True, "ü"], "b": {"c": [[[]]]}}
    assert parse_json(json.dumps(document)) == document
    assert parse_json("[" * 60 + "]" * 60)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = [" + "[" * 100_000, "nested more than 64 levels deep|not valid TOML"),
        ("a = " + "[" * 70 + "]" * 70, "nested more than 64 levels deep"),
        ("a = " + "9" * 5_000, "a number has too many digits"),
        ("a = " + "9" * 400, "a number has too many digits"),
        ("a = ", "not valid TOML"),
    ],
)
def test_toml_that_would_do_harm_is_refused(text, message):
    with pytest.raises(InputError, match=f"x.toml: .*({message})"):
        parse_toml(text, "x.toml")


def test_endless_and_large_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="/dev/zero: the model is larger than 256 MiB or has no end"):
        read_json("/dev/zero", "model")
    (tmp_path / "x").write_bytes(b"12345")
    with pytest.raises(InputError, match=r"the model is larger than 0 MiB$"):
        read_bytes(tmp_path / "x", "model", largest=4)
    assert read_bytes(tmp_path / "x", "model", largest=5) == b"12345"


@pytest.mark.parametrize("name", ["a" * 300, "no/such/file", "x\0y", "."])
def test_names_that_cannot_be_read_are_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for read in (lambda: read_toml(name, "campaign"), lambda: read_whole(name)):
        with pytest.raises(InputError):
            read()


def test_a_compressed_file_that_swells_is_refused(tmp_path):
    bomb = tmp_path / "bomb.swf.gz"
    bomb.write_bytes(gzip.compress(b"\0" * (300 << 20), compresslevel=9))
    with pytest.raises(InputError, match=r"bomb\.swf\.gz: the compressed file holds more than 200 times its size"):
        read_whole(bomb)
    with open_input(bomb) as stream:
        assert stream.read(3) == b"\0\0\0"


def test_a_device_without_an_end_is_refused():
    with pytest.raises(InputError, match="/dev/zero: this is a device without an end"):
        read_whole("/dev/zero")
    assert read_whole("/dev/null") == b""


class Small(BaseModel):
    number: int
    parts: list[int] = []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "a.json: number is missing; mend it"),
        ({"number": "x" * 5_000}, r"a.json: number: input should be a valid integer.*, not 'x+\.\.\.x+'; mend it"),
        ({"number": 1, "parts": [1, "b"]}, r"a.json: parts\[1\]: .*, not 'b'; mend it"),
        ([], "a.json: input should be a valid dictionary"),
    ],
)
def test_the_first_wrong_place_of_a_document_is_named(value, message):
    with pytest.raises(InputError, match=message):
        checked(TypeAdapter(Small), value, "a.json", "mend it")


def test_messages_are_bounded_and_printable():
    message = str(InputError(f"begin {'x' * 100_000} end"))
    assert len(message) < LONGEST_MESSAGE + 60
    assert message.startswith("begin xxx")
    assert message.endswith("xxx end")
    assert bounded("a\x1b[2Jb\ud800\nc") == "a\\x1b[2Jb\\ud800\nc"
    assert shown(10**5_000) == "a number of thousands of digits"


def test_a_near_name_is_suggested():
    assert did_you_mean("mean_wat", ["mean_wait", "p95"]) == " (did you mean mean_wait?)"
    assert did_you_mean("zzz", ["mean_wait"]) == ""
