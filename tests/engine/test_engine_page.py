"""The page on the engine names all modules; its worked example, put into a copy of the package, runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import schedlab
from schedlab import engine
from schedlab.engine.world import World

pytestmark = pytest.mark.compiled

PAGE = Path(__file__).parents[2] / "docs/background/engine.md"

IMPORTS = """
from __future__ import annotations
from typing import TYPE_CHECKING, NamedTuple
from schedlab.engine.axes import Fixed
from schedlab.engine.jobs.calendar import BLOCK, USED
from schedlab.engine.jobs.clock import FREE, NOW
from schedlab.engine.parts.dependencies.kernels import is_ready
from schedlab.engine.machine.profile import Profile, book, clear, earliest_slot
from schedlab.engine.runs import begin
from schedlab.engine.passes.waiting import leave
from schedlab.kernels import by_address, inner_kernel
if TYPE_CHECKING:
    from schedlab.engine.world import World

"""

PROGRAM = """
import sys
import numpy as np
import schedlab as sl
from schedlab.scheduler.backfilling import KReservations

def differences(first, mine, other, simulations, jobs):
    found = 0
    for seed in range(simulations):
        rng = np.random.default_rng([first, seed])
        run_time = rng.integers(1, 100, jobs)
        columns = {
            "submit_time": np.sort(rng.integers(0, 15 * jobs, jobs)),
            "run_time": run_time,
            "requested_time": run_time * rng.integers(1, 4, jobs),
            "requested_processors": rng.integers(1, 9, jobs),
        }
        workload = sl.Workload.from_columns(columns, processors=8)
        found += (sl.simulate(workload, mine).start_time != sl.simulate(workload, other).start_time).any()
    return int(found)

K = "slurm(interval=0,depth=all,resolution=1,window=all,reserve={},delay=0)"
simulations, jobs = 40, 60
print("EASY", differences(0, sl.Scheduler("fcfs", KReservations(1)), "fcfs+easy", simulations, jobs))
if sys.argv[1] == "all":
    for k in (2, 3, 5):
        mine = sl.Scheduler("saf", KReservations(k))
        print(k, differences(k, mine, "saf+" + K.format(k), simulations, jobs))
    print("apart", differences(9, sl.Scheduler("fcfs", KReservations(3)), "fcfs+easy", simulations, jobs) > 0)
"""


def blocks() -> list[str]:
    """Return the blocks of the example: the pass, its choice, the class, the plan and the kind of queue."""
    section = PAGE.read_text(encoding="utf-8").partition("### Worked example")[2].partition("\n## ")[0]
    return re.findall(r"```text\n(.*?)```", section, re.DOTALL)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a folder with a copy of the package into which the example was put, as the page says where."""
    package = tmp_path / "schedlab"
    shutil.copytree(Path(schedlab.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    the_pass, choice, the_class, plan, listed = blocks()
    (package / "engine/reservations_pass.py").write_text(IMPORTS + the_pass, encoding="utf-8")

    def put(file: str, line: str, new: str, *imports: str) -> None:
        """Put new text where a line is, and imports before the first one from the package."""
        path = package / file
        text = path.read_text(encoding="utf-8")
        assert text.count(line) == 1, f"{file}: {line}"
        text = text.replace(line, new).replace("from schedlab", "\n".join([*imports, "from schedlab"]), 1)
        path.write_text(text, encoding="utf-8")

    last = "    return _by_plan(plan, head, conservative, slurm)\n"
    put(
        "engine/pass_choice.py",
        last,
        choice + last,
        "from schedlab.engine.reservations_pass import Reservations, reservations_pass",
    )
    put("scheduler/backfilling.py", "Backfill = NoBackfill | Easy | Conservative | Slurm | OwnPass\n", the_class)
    last = "    return World(\n"
    put(
        "engine/assembly.py",
        last,
        plan + last,
        "from schedlab.engine.machine.profile import new_profile",
        "from schedlab.engine.reservations_pass import Reservations",
        "from schedlab.scheduler.backfilling import KReservations",
    )
    put("engine/assembly.py", listed.replace(" | KReservations", ""), listed)
    return tmp_path


def printed(copy: Path, argument: str, **environment: str) -> str:
    """Run the program with the copy of the package."""
    (copy / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(copy / "program.py"), argument],
        env={**os.environ, "PYTHONPATH": str(copy), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_it_is_easy_with_one_reservation_and_slurms_pass_with_more(copy: Path) -> None:
    assert printed(copy, "all", NUMBA_DISABLE_JIT="1") == "EASY 0\n2 0\n3 0\n5 0\napart True\n"


@pytest.mark.slow
def test_it_compiles(copy: Path) -> None:
    assert printed(copy, "EASY", SCHEDLAB_CACHE="off") == "EASY 0\n"


def test_it_has_fewer_than_60_lines() -> None:
    assert sum(bool(line.strip()) for block in blocks() for line in block.splitlines()) < 60


def test_the_page_names_every_module_of_the_engine_and_no_other() -> None:
    text = PAGE.read_text(encoding="utf-8").replace("reservations_pass.py", "")
    named = set(re.findall(r"`(?:engine/)?([\w/]+\.py)`", text))
    package = Path(engine.__file__).parent
    there = {str(path.relative_to(package)) for path in package.rglob("*.py") if path.name != "__init__.py"}
    there -= {module for module in there if module.endswith("/part.py")}  # one in each package
    there -= {module for module in there if module.startswith("reference/") or "/reference" in module}
    assert there - named == set()
    all_there = [str(path) for path in Path(schedlab.__file__).parent.rglob("*.py")]
    all_there += [str(path) for path in Path(__file__).parents[1].rglob("*.py")]
    assert {module for module in named if not any(path.endswith(f"/{module}") for path in all_there)} == set()


def test_the_page_names_only_fields_that_the_world_has() -> None:
    named = set(re.findall(r"`[Ww]orld\.(\w+)`", PAGE.read_text(encoding="utf-8")))
    assert named
    assert named - {*World._fields, "_fields", "py"} == set()


def excerpts() -> list[tuple[str, str]]:
    """Return the blocks that show a module of the engine, each with its name and its text."""
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(r"```text\n# ([\w/]+\.py)\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize(("module", "shown"), excerpts())
def test_what_the_page_shows_of_a_module_stands_there(module: str, shown: str) -> None:
    text, found = (Path(engine.__file__).parent / module).read_text(encoding="utf-8"), 0
    for piece in re.split(r"^ *\.\.\.\n", shown, flags=re.MULTILINE):
        assert piece in text[found:], piece
        found += text[found:].index(piece) + len(piece)


def test_what_the_page_says_is_in_a_module_is_defined_there() -> None:
    """Names beside a module in the tables of the way in."""
    text = PAGE.read_text(encoding="utf-8").partition("| where is ...? | |")[2].partition("## ")[0]
    named = re.findall(r"`(\w+)`(?: \w+,?)* in `([\w/]+\.py)`", text)
    assert len(named) >= 5
    for name, module in named:
        assert f"def {name}(" in (Path(engine.__file__).parent / module).read_text(encoding="utf-8"), (name, module)
