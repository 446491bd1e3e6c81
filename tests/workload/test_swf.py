"""The SWF reader takes every dialect and refuses all else in one sentence; the writer loses nothing."""

from __future__ import annotations

import gzip
import re
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.workload import swf
from schedlab.workload.swf import line_of_job, read_swf, write_swf
from schedlab.workload.workload import FIELDS, Workload

JOB = "1 0 5 60 4 9.56 -1 4 90 -1 1 7 2 3 1 1 -1 -1"
LAST_13 = 13 * " -1"


def swf_file(directory: Path, content: str | bytes, name: str = "log.swf") -> Path:
    path = directory / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_swf(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path)).lstrip(":, ")


def assert_same_jobs(one: Workload, other: Workload) -> None:
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field, strict=True)


class TestDialects:
    def test_the_18_columns_go_to_the_fields_of_the_standard(self, tmp_path: Path) -> None:
        jobs = read_swf(swf_file(tmp_path, " ".join(map(str, range(1, 19)))))
        assert [getattr(jobs, field).tolist() for field in FIELDS] == [[number] for number in range(1, 19)]
        assert jobs.average_cpu_time.dtype == np.float64
        assert {getattr(jobs, field).dtype for field in FIELDS if field != "average_cpu_time"} == {np.dtype(np.int64)}

    @pytest.mark.parametrize(
        "text",
        [
            f"{JOB}\n{JOB}\n",
            f"{JOB}\n{JOB}",
            f"{JOB}\r\n{JOB}\r\n",
            f"{JOB}\t\n  {JOB}  \n".replace(" ", "\t"),
            f"\n\n{JOB}\n   \n\t\n{JOB}\n\n",
            f"{JOB} {{1,2,3}} q_1d 1:ppn=64\n{JOB} 5\n",
            f"; Version: 2\n{JOB}\n; in between\n{JOB}\n  ; at the end",
            f"\ufeff{JOB}\n{JOB}",
        ],
        ids=["plain", "no last line feed", "CRLF", "tabs", "blank lines", "more columns", "comments", "BOM"],
    )
    def test_a_dialect_gives_the_same_jobs(self, tmp_path: Path, text: str) -> None:
        jobs = read_swf(swf_file(tmp_path, text))
        assert jobs.submit_time.tolist() == [0, 0]
        assert jobs.average_cpu_time.tolist() == [9.56, 9.56]
        assert jobs.think_time.tolist() == [-1, -1]

    def test_gzip_is_recognised_by_content_and_not_by_name(self, tmp_path: Path) -> None:
        packed = swf_file(tmp_path, gzip.compress(JOB.encode()), "packed.swf")
        plain = swf_file(tmp_path, JOB, "plain.swf.gz")
        assert len(read_swf(packed)) == len(read_swf(plain)) == 1

    @pytest.mark.parametrize(
        ("file", "name"), [("KTH-2.1.swf.gz", "KTH-2.1"), ("a.swf", "a"), ("b.gz", "b"), ("c.txt", "c.txt")]
    )
    def test_the_name_is_that_of_the_file_without_suffix(self, tmp_path: Path, file: str, name: str) -> None:
        assert read_swf(swf_file(tmp_path, JOB, file)).name == name

    @pytest.mark.parametrize(
        ("header", "processors"),
        [
            (";MaxNodes: 1524\n; MaxProcs: 3048", 3048),
            (";MaxNodes: 1524", 1524),
            ("; MaxProcs: 1664 (72, 1368, 224)", 1664),
            ("; MaxProcs: 1,024", 1024),
            ("; MaxProcs = 64", 64),
            (";MaxProcs=64", 64),
            ("; MAXPROCS\t64", 64),
            ("; MaxProc: 64", 64),
            ("; Max Processors: 64", 64),
            ("; MaxProcs of all: 64", None),
            ("; MaxProcsPerUser: 64", None),
            ("; Max nodes = 64 (8 of them old)", 64),
            ("; MaxProcs: 1,048,576 cores", 1_048_576),
            ("; MaxProcs: 64, 128", 64),
            ("; MaxProcs: -1\n; MaxNodes: 64", 64),
            ("; MaxProcs: UNKNOWN", None),
            ("; Note: MaxProcs: 7", None),
            ("", None),
        ],
    )
    def test_the_machine_is_maxprocs_or_else_maxnodes(
        self, tmp_path: Path, header: str, processors: int | None
    ) -> None:
        assert read_swf(swf_file(tmp_path, f"{header}\n{JOB}")).processors == processors

    @pytest.mark.parametrize(
        ("header", "start"),
        [
            ("; UnixStartTime: 843480031", 843480031),
            ("; Unix Start Time = 843480031", 843480031),
            ("; UnixStartTime: 0 ", None),
        ],
    )
    def test_a_start_time_of_zero_is_unknown(self, tmp_path: Path, header: str, start: int | None) -> None:
        assert read_swf(swf_file(tmp_path, f"{header}\r\n{JOB}")).start_time == start

    def test_comments_are_kept_exactly_from_behind_the_semicolon(self, tmp_path: Path) -> None:
        text = ";MaxNodes: 5\n; MaxNodes: 5  \r\n;\n;; twice \n" + JOB + "\n; Umeå\n"
        jobs = read_swf(swf_file(tmp_path, text))
        assert jobs.header == ("MaxNodes: 5", " MaxNodes: 5  ", "", "; twice ", " Umeå")

    def test_hundreds_of_millions_of_comments_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "comments.swf.gz"
        path.write_bytes(gzip.compress(b";\n" * 1_000_001 + JOB.encode(), compresslevel=1))
        with pytest.raises(InputError, match="the file has more than 1,000,000 comment lines"):
            read_swf(path)

    def test_a_header_in_latin_1_is_read(self, tmp_path: Path) -> None:
        jobs = read_swf(swf_file(tmp_path, "; Umeå\n".encode("latin-1") + JOB.encode()))
        assert jobs.header == (" Umeå",)

    def test_rows_keep_the_order_of_the_file(self, tmp_path: Path) -> None:
        lines = [f"{job} {submit} -1 60 4{LAST_13}" for job, submit in [(3, 50), (1, 10), (2, 30)]]
        jobs = read_swf(swf_file(tmp_path, "\n".join(lines)))
        assert jobs.job_id.tolist() == [3, 1, 2]
        assert jobs.submit_time.tolist() == [50, 10, 30]

    def test_a_column_of_one_value_is_stored_once(self, tmp_path: Path) -> None:
        jobs = read_swf(swf_file(tmp_path, f"1 0 -1 60 4{LAST_13}\n2 5 -1 60 4{LAST_13}"))
        assert jobs.think_time.strides == jobs.run_time.strides == (0,)
        assert jobs.job_id.strides == (8,)

    def test_pieces_of_any_size_give_the_same_workload(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        lines = [f"{job} {10 * job} -1 {60 + (job > 7)} 4 0.5{12 * ' -1'}" for job in range(1, 10)]
        path = swf_file(tmp_path, "; MaxProcs: 8\n" + "\n; middle\n".join(lines))
        whole = read_swf(path)
        for size in (1, 7, 50, 64, 200):
            monkeypatch.setattr(swf, "READ_BYTES", size)
            parts = read_swf(path)
            assert_same_jobs(parts, whole)
            assert parts.header == whole.header


class TestNumbers:
    @pytest.mark.parametrize(
        ("token", "value", "rounded"),
        [
            ("7", 7, 0),
            ("+7", 7, 0),
            ("-1", -1, 0),
            ("-1.0", -1, 0),
            ("12.00", 12, 0),
            ("12.", 12, 0),
            ("1.5", 2, 1),
            ("2.5", 3, 1),
            ("1.49", 1, 1),
            (".5", 1, 1),
            ("-1.5", -1, 1),
            ("-1.51", -2, 1),
            ("1e+06", 1_000_000, 0),
            ("2.5E0", 3, 1),
            ("-25e-1", -2, 1),
            ("0.4999999999999999999999999", 0, 1),
            ("0000000000000000000000000007", 7, 0),
            ("9223372036854775807", 2**63 - 1, 0),
            ("-9223372036854775807", -(2**63) + 1, 0),
        ],
    )
    def test_decimals_are_rounded_half_up_and_counted(
        self, tmp_path: Path, token: str, value: int, rounded: int
    ) -> None:
        jobs = read_swf(swf_file(tmp_path, f"1 0 {token} 60 4{LAST_13}"))
        assert jobs.wait_time.tolist() == [value]
        assert jobs.rounded == rounded

    @settings(max_examples=60)
    @given(st.decimals(min_value=-(10**12), max_value=10**12, places=3))
    def test_rounding_agrees_with_exact_arithmetic(
        self, tmp_path_factory: pytest.TempPathFactory, number: Decimal
    ) -> None:
        path = swf_file(tmp_path_factory.mktemp("swf"), f"1 0 {number:f} 60 4{LAST_13}")
        expected = (number + Decimal("0.5")).to_integral_value(ROUND_FLOOR)
        assert read_swf(path).wait_time.tolist() == [int(expected)]

    @settings(max_examples=60)
    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_the_average_cpu_time_is_the_nearest_float(
        self, tmp_path_factory: pytest.TempPathFactory, number: float
    ) -> None:
        path = swf_file(tmp_path_factory.mktemp("swf"), f"1 0 -1 60 4 {number!r}{12 * ' -1'}")
        jobs = read_swf(path)
        assert jobs.average_cpu_time.tolist() == [number]
        assert jobs.rounded == 0


class TestRefusals:
    def test_a_missing_file(self, tmp_path: Path) -> None:
        assert refusal(tmp_path / "nowhere.swf") == "the file does not exist"

    def test_a_directory(self, tmp_path: Path) -> None:
        assert refusal(tmp_path) == "this is a directory, not a file"

    @pytest.mark.parametrize("content", [b"", gzip.compress(b"")], ids=["plain", "gzip"])
    def test_an_empty_file(self, tmp_path: Path, content: bytes) -> None:
        assert refusal(swf_file(tmp_path, content)) == "the file is empty"

    @pytest.mark.parametrize("text", ["; MaxProcs: 5\n", "\n \n"])
    def test_a_file_without_jobs(self, tmp_path: Path, text: str) -> None:
        assert refusal(swf_file(tmp_path, text)) == "the file has no job lines"

    def test_a_truncated_gzip_file(self, tmp_path: Path) -> None:
        packed = gzip.compress(f"{JOB}\n".encode() * 100)
        assert "compressed file is truncated" in refusal(swf_file(tmp_path, packed[: len(packed) // 2]))

    def test_a_damaged_gzip_file(self, tmp_path: Path) -> None:
        packed = bytearray(gzip.compress(f"{JOB}\n".encode() * 100))
        packed[15:25] = b"\xff" * 10
        assert "compressed file is damaged" in refusal(swf_file(tmp_path, bytes(packed)))

    @pytest.mark.parametrize(
        ("content", "looks"),
        [
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a binary file"),
            (b'{"nb_res": 4, "jobs": []}', "JSON"),
            (b"job_id,submit_time\n1,0\n", "CSV"),
            (b"job_id;submit_time;run_time\n1;0;9\n", "CSV"),
            (b"<!DOCTYPE html>\n<html>\n", "a page (HTML or XML)"),
            (b'"JOB_FINISH" "9.11" 1389683139 404717 22025 33882739 128 "ann" "regular"\n', "LSF's lsb.acct"),
            (b'"JOB_NEW" "10.1" 1389683139 404717 22025 33882739 128 "ann"\n', "LSF's lsb.events"),
            (b"Job <7>, User <ann>, Project <default>, Status <DONE>\n", "the text of LSF's bacct"),
            (
                b"# Version: 8.1\nall.q:n1:users:ann:run.sh:7:sge:0:1389683139:1389683140:1389683200:0:0:60"
                + 31 * b":0",
                "the accounting file of Grid Engine (SGE)",
            ),
            (b"all.q:n1:users:ann:run one.sh:7:sge" + 36 * b":0", "the accounting file of Grid Engine (SGE)"),
            (b"==============\nqname        all.q\n", "the text of Grid Engine's qacct"),
        ],
    )
    def test_a_file_of_another_format_is_named(self, tmp_path: Path, content: bytes, looks: str) -> None:
        message = refusal(swf_file(tmp_path, content))
        assert re.match(r"line \d: this is not SWF: it looks like ", message)
        assert message.split("it looks like ")[1].startswith(looks)

    def test_a_log_that_has_no_reader_says_what_to_do(self, tmp_path: Path) -> None:
        path = swf_file(tmp_path, '"JOB_FINISH" "9.11" 1389683139 404717 22025 33882739 128 1389642318 "ann" ""\n')
        assert refusal(path) == (
            "line 1: this is not SWF: it looks like LSF's lsb.acct, which is not read: write its jobs as CSV (submit, "
            "start and end times, processors, user), and read that with --column"
        )

    def test_a_table_of_six_columns(self, tmp_path: Path) -> None:
        path = swf_file(tmp_path, "Job_name Submit Runtime Nodes Comment Perc\n1 0 7560 512 1 90\n")
        assert refusal(path).startswith("line 1: 6 columns where SWF has 18; complete the line, or convert the file")

    def test_a_line_of_17_columns_in_the_middle(self, tmp_path: Path) -> None:
        path = swf_file(tmp_path, f"; MaxProcs: 9\n\n{JOB}\n{JOB[:-3]}\n{JOB}\n")
        assert refusal(path).startswith("line 4: 17 columns where SWF has 18; complete the line")

    @pytest.mark.parametrize("end", ["", "\n", "\n\n"])
    def test_a_truncated_file_is_refused_with_its_line(self, tmp_path: Path, end: str) -> None:
        path = swf_file(tmp_path, f"{JOB}\n{JOB}\n3{end}")
        assert refusal(path) == "line 3: 1 column where SWF has 18; the file looks truncated"

    def test_a_file_cut_behind_a_sign_looks_truncated(self, tmp_path: Path) -> None:
        message = refusal(swf_file(tmp_path, f"{JOB}\n{JOB[:-1]}"))
        assert message.startswith("line 2: column 18 (think time) is '-'")
        assert message.endswith("the file looks truncated")

    @pytest.mark.parametrize("token", ["abc", "12a", "1.2.3", "nan", "inf", "-Infinity", "1_000", "0x10", "--1", "é"])
    @pytest.mark.parametrize("column", [3, 6])
    def test_what_is_not_a_finite_number_is_named(self, tmp_path: Path, token: str, column: int) -> None:
        words = JOB.split()
        words[column - 1] = token
        message = refusal(swf_file(tmp_path, f"{JOB}\n{' '.join(words)}\n{JOB}"))
        assert message.startswith(f"line 2: column {column} (")
        assert message.endswith("which is not a finite number; correct the value, or write -1 if it is unknown")

    @pytest.mark.parametrize(
        "token",
        [
            "9223372036854775808",
            "-9223372036854775808",
            "1e19",
            "9223372036854775807.5",
            "1e999999999999999999999",
        ],
    )
    def test_a_number_beyond_64_bits_is_refused(self, tmp_path: Path, token: str) -> None:
        message = refusal(swf_file(tmp_path, f"1 0 -1 {token} 4{LAST_13}"))
        problem = f"line 1: column 4 (run time) is {token}, which does not fit into 64 bits"
        assert message == f"{problem}; correct the value, or write -1 if it is unknown"

    @pytest.mark.parametrize(
        ("submit", "run_time", "shown"),
        [("-5", 60, -5), ("-2e3", -1, -2000), ("-1.6", 60, -2)],
    )
    def test_a_negative_submit_time_is_refused(self, tmp_path: Path, submit: str, run_time: int, shown: int) -> None:
        message = refusal(swf_file(tmp_path, f"; x\n{JOB}\n2 {submit} -1 {run_time} 4{LAST_13}\n{JOB}"))
        advice = "correct it, write -1 if it is unknown, or remove the job"
        assert message == f"line 3: the submit time {shown} is negative: {advice}"

    @pytest.mark.parametrize("run_time", [-1, 0, 10])
    def test_minus_one_is_an_unknown_submit_time(self, tmp_path: Path, run_time: int) -> None:
        jobs = read_swf(swf_file(tmp_path, f"{JOB}\n2 -1 5 {run_time} -1{LAST_13}"))
        assert jobs.submit_time.tolist() == [0, -1]
        assert jobs.run_time.tolist()[1] == run_time

    @pytest.mark.parametrize(
        ("text", "line"),
        [(f"{JOB}\r{JOB}", 1), (f"; x\r{JOB}\n", 1), (f"; x\r\n{JOB}\r\n{JOB}\r{JOB}\r\n", 3)],
    )
    def test_a_carriage_return_that_would_hide_jobs_is_refused(self, tmp_path: Path, text: str, line: int) -> None:
        message = refusal(swf_file(tmp_path, text))
        assert message.startswith(f"line {line}: a carriage return")
        assert "save the file with LF or CRLF line ends" in message

    def test_lines_are_counted_across_pieces(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = swf_file(tmp_path, f"; one\n{JOB}\n\n{JOB}\n;five\n{JOB}\n{JOB} \n1 x\n{JOB}\n")
        for size in (1, 30, 60, 100, 1 << 20):
            monkeypatch.setattr(swf, "READ_BYTES", size)
            assert refusal(path).startswith("line 8: 2 columns where SWF has 18")


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_never_raise_anything_but_input_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = swf_file(tmp_path_factory.mktemp("fuzz"), content)
    with pytest.raises(InputError):
        read_swf(path)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 159), st.binary(max_size=4), st.integers(0, 4)), min_size=1, max_size=5),
    st.booleans(),
)
def test_a_mutated_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, bytes, int]], packed: bool
) -> None:
    content = f"; MaxProcs: 64\n{JOB}\n2 5 1.5 60 4{LAST_13}\n{JOB}\n".encode()
    content = gzip.compress(content, mtime=0) if packed else content
    for position, replacement, removed in edits:
        content = content[:position] + replacement + content[position + removed :]
    path = swf_file(tmp_path_factory.mktemp("fuzz"), content)
    try:
        jobs = read_swf(path)
    except InputError:
        return
    assert len(jobs) > 0
    assert (jobs.submit_time >= -1).all()


class TestWriting:
    def test_without_a_header_a_minimal_one_is_written(self, tmp_path: Path) -> None:
        jobs = Workload.from_columns({"submit_time": [0], "run_time": [9]}, processors=16, start_time=77)
        write_swf(jobs, tmp_path / "x.swf")
        assert (tmp_path / "x.swf").read_text().splitlines() == [
            "; Version: 2.2",
            "; MaxJobs: 1",
            "; MaxProcs: 16",
            "; UnixStartTime: 77",
            "1 0 -1 9" + 14 * " -1",
        ]

    def test_whole_average_cpu_times_have_no_decimals(self, tmp_path: Path) -> None:
        columns = {"submit_time": [0, 1, 2, 3], "average_cpu_time": [-1, 1024, 9.56, 0.1 + 0.2]}
        write_swf(Workload.from_columns(columns), tmp_path / "x.swf")
        lines = (tmp_path / "x.swf").read_text().splitlines()[2:]
        assert [line.split()[5] for line in lines] == ["-1", "1024", "9.56", "0.30000000000000004"]

    def test_header_lines_that_contradict_the_workload_are_replaced(self, tmp_path: Path) -> None:
        path = swf_file(tmp_path, f"; Computer: SP2\n; MaxNodes: 50\n;MaxProcs: 100\n; UnixStartTime: 7\n{JOB}")
        changed = read_swf(path).replace(processors=64, start_time=None)
        write_swf(changed, path)
        again = read_swf(path)
        assert again.header == (" MaxProcs: 64", " Computer: SP2")
        assert (again.processors, again.start_time) == (64, None)

    def test_a_header_line_with_a_line_feed_stays_a_comment(self, tmp_path: Path) -> None:
        write_swf(Workload.from_columns({"submit_time": [0]}, header=("a\n1 2 3",)), tmp_path / "x.swf")
        assert read_swf(tmp_path / "x.swf").header == ("a", "1 2 3")

    def test_a_name_that_ends_with_gz_is_compressed_always_in_the_same_way(self, tmp_path: Path) -> None:
        jobs = Workload.from_columns({"submit_time": [0, 3], "run_time": [5, 6]})
        write_swf(jobs, tmp_path / "one.swf.gz")
        write_swf(jobs, tmp_path / "two.swf.gz")
        content = (tmp_path / "one.swf.gz").read_bytes()
        assert content[:2] == b"\x1f\x8b"
        assert content == (tmp_path / "two.swf.gz").read_bytes()
        assert_same_jobs(read_swf(tmp_path / "one.swf.gz"), jobs)

    @settings(max_examples=40, deadline=None)
    @given(st.data())
    def test_reading_gives_back_what_was_written(
        self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
    ) -> None:
        length = data.draw(st.integers(1, 6))
        limit = 2**63 - 1
        columns = {
            field: data.draw(
                st.lists(
                    st.floats(-1e18, 1e18)
                    if field == "average_cpu_time"
                    else st.integers(0 if field == "submit_time" else -limit, limit),
                    min_size=length,
                    max_size=length,
                )
            )
            for field in FIELDS
        }
        line = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20)
        jobs = Workload.from_columns(
            columns,
            processors=data.draw(st.none() | st.integers(1, 10**9)),
            start_time=data.draw(st.none() | st.integers(1, 2 * 10**9)),
            header=tuple(data.draw(st.lists(line, max_size=3))),
        )
        path = tmp_path_factory.mktemp("swf") / "x.swf"
        write_swf(jobs, path)
        again = read_swf(path)
        assert_same_jobs(again, jobs)
        assert (again.processors, again.start_time) == (jobs.processors, jobs.start_time)
        assert set(jobs.header) <= set(again.header)


class TestLineOfJob:
    def test_it_counts_comments_and_blank_lines(self, tmp_path: Path) -> None:
        path = swf_file(tmp_path, f"; one\n\n{JOB}\n ; four\n{JOB}\r\n \r\n{JOB}")
        assert [line_of_job(path, row) for row in range(3)] == [3, 5, 7]

    def test_a_row_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="the file has 1 jobs, so row 1"):
            line_of_job(swf_file(tmp_path, JOB), 1)


TRACES = [
    # file, jobs, processors: the table of the collection, which was measured with another parser
    ("KTH-SP2-1996-2.1-cln.swf.gz", 28476, 100),
    ("SDSC-SP2-1998-4.2-cln.swf.gz", 59715, 128),
    ("CTC-SP2-1996-3.1-cln.swf.gz", 77222, 338),
    ("SDSC-BLUE-2000-4.2-cln.swf.gz", 243306, 1152),
    ("HPC2N-2002-2.2-cln.swf.gz", 202871, 240),
    ("CEA-Curie-2011-2.1-cln.swf.gz", 312826, 93312),
    ("SDSC-Par-1996-3.1-cln.swf.gz", 32135, 400),
    ("LLNL-Atlas-2006-2.1-cln.swf.gz", 43778, 9216),
    ("LLNL-Thunder-2007-1.1-cln.swf.gz", 121039, 4008),
    ("Sandia-Ross-2001-1.1-cln.swf.gz", 57882, 1524),
    ("OSC-Clust-2000-3.1-cln.swf.gz", 36097, 178),
    ("NASA-iPSC-1993-3.1-cln.swf.gz", 18239, 128),
    ("NASA-iPSC-1993-3.swf.gz", 42264, 128),
    ("RICC-2010-2.swf.gz", 447794, 8192),
    ("LCG.swf.gz", 188041, 24515),
    ("modern/theta_2023.swf.gz", 8401, 4360),
    ("modern/wagap-2013.swf.gz", 17900, None),
    ("synthetic/gen-sched-policies-2017/lublin_256_est.swf.gz", 20000, 256),
]


def _with_at_most(jobs: int, line: str) -> str:
    """Return a line of a header; headers of cleaned logs count what is no longer there."""
    key, _, number = line.strip().partition(":")
    return f" {key}: {jobs}" if key in ("MaxJobs", "MaxRecords") and int(number) > jobs else line


@pytest.mark.slow
@pytest.mark.parametrize(("file", "jobs", "processors"), TRACES)
def test_a_real_log_is_read_and_written_without_loss(
    traces: Path, tmp_path: Path, file: str, jobs: int, processors: int | None
) -> None:
    log = read_swf(traces / file)
    assert len(log) == jobs
    assert log.processors == processors
    assert log.rounded == 0
    with gzip.open(traces / file) as stream:
        lines = stream.read().replace(b"\r", b"").splitlines()
    assert list(log.header) == [line[1:].decode() for line in lines if line.startswith(b";")]
    words = np.loadtxt([line for line in lines if not line.startswith(b";")], usecols=range(18))
    for column, field in enumerate(FIELDS):
        np.testing.assert_array_equal(getattr(log, field), words[:, column], err_msg=field)
    write_swf(log, tmp_path / "again.swf")
    again = read_swf(tmp_path / "again.swf")
    assert_same_jobs(again, log)
    if log.processors:
        assert again.header == tuple(_with_at_most(jobs, line) for line in log.header)
    assert (again.processors, again.start_time) == (log.processors, log.start_time)


def test_a_real_log_is_read_as_its_table_says(traces: Path) -> None:
    log = read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    assert (len(log), log.processors, log.start_time) == (28476, 100, 843480031)
    assert len(np.unique(log.user_id)) == 214
    assert len(np.unique(log.group_id)) == 252


def test_the_six_column_logs_of_alcf_are_refused(traces: Path) -> None:
    for name in ("anl", "mira", "theta"):
        assert refusal(traces / "samples" / "alcf-3000" / f"{name}.swf.gz").startswith("line 1: 6 columns")


@pytest.mark.parametrize("start_time", [0, -1, -3600])
def test_a_start_that_would_be_read_as_unknown_is_not_written(tmp_path: Path, start_time: int) -> None:
    jobs = Workload.from_columns({"submit_time": [5], "run_time": [60]}, start_time=start_time)
    write_swf(jobs, tmp_path / "w.swf")
    assert "UnixStartTime" not in (tmp_path / "w.swf").read_text()


def test_the_header_of_a_part_counts_its_own_jobs(tmp_path):
    lines = ["; MaxJobs: 3", "; MaxRecords: 3", "; Note: MaxJobs: 3 as recorded"]
    (tmp_path / "log.swf").write_text("\n".join([*lines, *(f"{n} {n} -1 60 4" + 13 * " -1" for n in (1, 2, 3))]))
    write_swf(read_swf(tmp_path / "log.swf")[:2], tmp_path / "part.swf")
    header = read_swf(tmp_path / "part.swf").header
    assert header == (" MaxJobs: 2", " MaxRecords: 2", " Note: MaxJobs: 3 as recorded")
