"""The program as a whole: how it starts and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer import Context
from typer.main import get_command

import schedlab
from schedlab.cli.app import app
from schedlab.cli.verbs import GROUPS


def _program(*words: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from schedlab.cli import main; main()", *words]
    return subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, text=True)


def test_the_version_is_printed(run) -> None:
    assert run("--version").stdout == f"schedlab {schedlab.__version__}\n"


def test_help_names_every_verb(run) -> None:
    text = run("--help").stdout
    verbs = (
        "demo inspect generate simulate compare predict when search gantt schedulers fetch convert reproduce versions"
    )
    assert [verb for verb in [*verbs.split(), "versions"] if f" {verb} " not in text] == []


def test_help_has_every_verb_in_a_group_of_those_who_need_it(run) -> None:
    assert sorted(verb for verbs in GROUPS.values() for verb in verbs) == sorted(get_command(app).commands)  # type: ignore[attr-defined]
    text = run("--help").stdout
    places = [text.index(f"─ {group} ─") for group in GROUPS]
    assert places == sorted(places)
    assert text.index(" deploy ") < text.index(" fetch ")


def test_without_a_verb_the_help_says_how_to_begin(run) -> None:
    result = run()
    text = " ".join((result.stdout + result.stderr).split())
    assert "Begin with schedlab demo" in text.replace("`", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("what-if site", "write schedlab site what-if"),
        ("import --conf conf", "write schedlab site import"),
        ("start jobs.swf", "schedlab when forecasts when jobs will start"),
        ("calibrate site", "write schedlab site calibrate"),
        ("run jobs.swf", "write schedlab campaign run or schedlab slurm run"),
        ("whatif site", "did you mean schedlab site what-if?"),
        ("calibration site", "did you mean schedlab site calibrate?"),
        ("describe conf", "schedlab cluster show describes a cluster"),
        ("drain site", "schedlab site maintenance compares when to drain nodes"),
        ("compair jobs.swf", "Did you mean 'compare'"),
    ],
)
def test_a_verb_that_is_elsewhere_is_told_with_its_place(run, words: str, said: str) -> None:
    result = run(*words.split())
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", " ").split())


def test_a_question_about_starts_without_a_log_says_what_to_name(run) -> None:
    said = " ".join(run("when").stderr.replace("│", " ").split())
    assert "name a log (or a site: --site DIR) and one question" in said
    assert "schedlab when LOG --all" in said


def test_paragraphs_of_help_are_broken_by_the_terminal_alone() -> None:
    program = get_command(app)
    for verb in program.list_commands(Context(program)):  # type: ignore[attr-defined]
        command = program.get_command(Context(program), verb)  # type: ignore[attr-defined]
        for one in (command, *getattr(command, "commands", {}).values()):
            assert "\n" not in one.help.replace("\n\n", ""), f"{verb} {one.name}"


def test_explaining_a_site_leads_to_the_verb_of_sites(run, tmp_path: Path) -> None:
    result = run("explain", tmp_path)
    assert result.exit_code == 1
    assert result.stderr == (
        f"schedlab: {tmp_path} is a directory, not a schedule; of a site: schedlab site explain {tmp_path}\n"
    )


@pytest.mark.parametrize("verb", ["", "inspect", "campaign diff", "site what-if"])
def test_help_shows_no_type_behind_options_without_a_value(run, verb: str) -> None:
    assert "bool" not in run(*verb.split(), "--help").stdout


@pytest.mark.parametrize("words", [["fly"], ["simulate"], ["compare", "x.swf"], ["simulate", "x.swf", "--events", "y"]])
def test_wrong_usage_ends_with_2(run, words: list[str]) -> None:
    assert run(*words).exit_code == 2


def test_the_program_starts_without_heavy_libraries() -> None:
    code = "import sys, schedlab.cli; print({'numpy', 'numba', 'pandas', 'pyarrow', 'matplotlib'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"


@pytest.mark.parametrize(("own", "threads"), [(None, "1"), ("3", "3")])
def test_linear_algebra_has_one_thread_unless_the_user_says_otherwise(own: str | None, threads: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment |= {} if own is None else {"OPENBLAS_NUM_THREADS": own}
    code = "import atexit, os, sys; atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS']))\n"
    code += "sys.argv = ['schedlab', '--version']; from schedlab.cli import main; main()"
    printed = subprocess.check_output([sys.executable, "-c", code], text=True, env=environment)
    assert printed.splitlines()[-1] == threads


def test_an_error_is_one_line_on_stderr_and_exit_code_1(tmp_path: Path) -> None:
    program = _program("inspect", str(tmp_path / "none.swf"))
    assert program.communicate() == ("", f"schedlab: {tmp_path}/none.swf: the file does not exist\n")
    assert program.returncode == 1


def test_a_closed_pipe_is_no_error_worth_words() -> None:
    program = _program("schedulers")
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.close()
    assert program.stderr.read() == ""
    program.stderr.close()
    assert program.wait() == 1


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="the system has no device that is always full")
@pytest.mark.parametrize("words", [["schedulers"], ["schedulers", "--json"], ["--version"], ["--help"]], ids=" ".join)
def test_a_full_disk_behind_standard_output_is_one_line(words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        program = _program(*words, stdout=full.fileno())
    assert program.communicate()[1] == "schedlab: cannot write to standard output: No space left on device\n"
    assert program.returncode == 1


def test_an_interrupt_ends_with_130(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("schedlab.kernels.cache_directory", interrupt)
    result = run("versions")
    assert (result.exit_code, result.output) == (130, "")


def test_versions_say_what_a_bug_report_needs(run) -> None:
    lines = run("versions").stdout.splitlines()
    assert lines[0].split() == ["schedlab", schedlab.__version__]
    assert {"python", "platform", "numpy", "numba"} <= {line.split()[0] for line in lines}


@pytest.mark.parametrize("kind", ["link", "file", "open to others"])
def test_compiled_code_is_kept_where_nobody_else_can_put_any(tmp_path: Path, kind: str) -> None:
    """Loading it means running it."""
    place, elsewhere = tmp_path / f"schedlab-kernels-{os.getuid()}", tmp_path / "elsewhere"
    elsewhere.mkdir()
    if kind == "link":
        place.symlink_to(elsewhere)
    elif kind == "file":
        place.write_text("mine")
    else:
        place.mkdir()
        place.chmod(0o777)
    usual = {key: value for key, value in os.environ.items() if key not in ("SCHEDLAB_CACHE", "NUMBA_CACHE_DIR")}
    words = [sys.executable, "-m", "schedlab", "versions"]
    done = subprocess.run(words, env=usual | {"TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=True)
    assert str(tmp_path) not in done.stdout
    assert list(elsewhere.iterdir()) == []
