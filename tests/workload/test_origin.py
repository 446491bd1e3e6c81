"""Where jobs come from: files, fingerprints and cleaning rules, from the reader to every file of a schedule."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import schedlab as sl
from schedlab.errors import InputError
from schedlab.workload.cleaning import RULE_SETS, clean
from schedlab.workload.files import read_workload, write_workload
from schedlab.workload.origin import ORIGIN, AppliedRule, Origin
from schedlab.workload.reading import Reading
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload

SWF = "; MaxProcs: 8\n1 0 -1 60 4" + 13 * " -1" + "\n2 9 -1 -1 4" + 13 * " -1" + "\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "april.swf").write_text(SWF)
    return tmp_path / "april.swf"


def sha256sum(path: Path) -> str:
    """The digest by another program."""
    return subprocess.run(["sha256sum", str(path)], capture_output=True, text=True, check=True).stdout.split()[0]


def test_a_reader_names_the_file_with_the_digest_of_its_bytes(log: Path) -> None:
    assert read_swf(log).origin == Origin("april.swf", sha256sum(log), "swf")
    packed = log.with_name("april.swf.gz")
    packed.write_bytes(gzip.compress(SWF.encode()))
    assert read_workload(packed).origin == Origin("april.swf.gz", sha256sum(packed), "swf")


def test_each_format_is_named_and_so_are_the_options_of_reading(tmp_path: Path) -> None:
    sacct = tmp_path / "jobs.txt"
    line = "7|ann|gpu|COMPLETED|2026-04-01T10:00:00|2026-04-01T10:05:00|2026-04-01T11:05:00|4"
    sacct.write_text(f"JobIDRaw|User|Partition|State|Submit|Start|End|AllocCPUS\n{line}\n")
    origin = Reading(partition=("gpu",), timezone="Europe/Stockholm", default_limit=("2h",)).read(sacct).origin
    assert origin is not None
    assert (origin.file, origin.format) == ("jobs.txt", "sacct")
    assert origin.reading == {"timezone": "Europe/Stockholm", "partition": ["gpu"], "default_limit": ["2h"]}
    table = tmp_path / "jobs.csv"
    table.write_text("s,r,q\n0,60,2\n")
    columns = {"submit": "s", "run_time": "r", "processors": "q"}
    mapped = read_workload(table, columns=columns).origin
    assert mapped is not None
    assert (mapped.format, mapped.reading) == ("mapped", {"column": columns})


def test_a_lenient_reading_names_the_whole_file(log: Path) -> None:
    log.write_text(SWF + "3 soon" + 16 * " -1" + "\n")
    origin = read_workload(log, lenient=True).origin
    assert origin == Origin("april.swf", sha256sum(log), "swf", reading={"lenient": True})


def test_cleaning_adds_its_rules_with_what_they_did(log: Path) -> None:
    origin = clean(read_swf(log)).origin
    assert origin is not None
    assert [one.rule for one in origin.cleaning] == list(RULE_SETS["default"])
    assert [one for one in origin.cleaning if one.dropped] == [AppliedRule("never-ran", dropped=1)]
    assert clean(read_swf(log), "none").origin == read_swf(log).origin
    made = clean(Workload.from_columns({"submit_time": [0], "run_time": [9], "requested_processors": [1]}))
    assert made.origin is not None
    assert made.origin.file == ""


def test_selections_keep_the_origin_and_a_concatenation_has_both(log: Path, tmp_path: Path) -> None:
    one = read_swf(log)
    assert one[:1].origin == one.sorted_by_submit().origin == one.with_columns(team=["a", "b"]).origin == one.origin
    (tmp_path / "may.swf").write_text(SWF + SWF)
    other = read_swf(tmp_path / "may.swf")
    both = Workload.concat([one, other, one]).origin
    assert both == Origin(made_from=(one.origin, other.origin))
    assert Workload.concat([one, one]).origin == one.origin


def test_parquet_names_itself_and_what_it_was_made_from(log: Path, tmp_path: Path) -> None:
    cleaned, path = clean(read_swf(log)), tmp_path / "april.parquet"
    write_workload(cleaned, path)
    origin = read_workload(path).origin
    assert origin == Origin("april.parquet", sha256sum(path), "table", made_from=(cleaned.origin,))
    assert ORIGIN.validate_python(json.loads(json.dumps(origin.to_dict()))) == origin


def test_every_file_of_a_schedule_says_which_file_rules_and_versions_made_it(log: Path, tmp_path: Path) -> None:
    schedule = sl.simulate(clean(read_swf(log)), "fcfs+easy")
    digest, version = hashlib.sha256(SWF.encode()).hexdigest(), sl.__version__
    facts = {}
    schedule.save(tmp_path / "s.parquet")
    facts["parquet"] = json.loads(pq.read_schema(tmp_path / "s.parquet").metadata[b"schedlab"])["provenance"]
    schedule.save(tmp_path / "s.csv")
    facts["csv"] = json.loads(pd.read_csv(tmp_path / "s.csv")["metadata"][0])
    facts["read back"] = sl.read_schedule(tmp_path / "s.parquet").provenance()
    for told in facts.values():
        assert told["schedlab"] == version
        assert (told["origin"]["file"], told["origin"]["sha256"]) == ("april.swf", digest)
        rules = {one["rule"]: one["dropped"] for one in told["origin"]["cleaning"]}
        assert list(rules) == list(RULE_SETS["default"])
        assert rules["never-ran"] == 1
    schedule.save(tmp_path / "s.swf")
    header = "".join(read_swf(tmp_path / "s.swf").header)
    assert f"jobs from april.swf (swf, SHA-256 {digest})" in header
    assert "never-ran (dropped 1)" in header
    assert f"schedlab {version}" in header


def test_a_csv_of_the_same_schedule_has_the_same_bytes(log: Path, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        sl.simulate(clean(read_swf(log)), "fcfs+easy").save(tmp_path / name)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_damaged_origin_is_refused(log: Path, tmp_path: Path) -> None:
    write_workload(read_swf(log), tmp_path / "x.parquet")
    table = pq.read_table(tmp_path / "x.parquet")
    facts = json.loads(table.schema.metadata[b"schedlab"]) | {"origin": {"cleaning": 7}}
    pq.write_table(table.replace_schema_metadata({"schedlab": json.dumps(facts)}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match="the metadata are damaged"):
        read_workload(tmp_path / "x.parquet")
