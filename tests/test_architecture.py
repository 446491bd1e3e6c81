"""The plan of the house: who may import whom, and how long a module may be."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from inspect import ismodule
from pathlib import Path

import pytest

import schedlab
import schedlab_papers

PACKAGE = Path(schedlab.__file__).parent
PAPERS = Path(schedlab_papers.__file__).parent
ROOMS = [
    "kernels",
    "workflow",
    "workload",
    "cluster",
    "scheduler",
    "schedule",
    "speculate",
    "engine",
    "energy",
    "predict",
    "learn",
]
ROOMS += ["model", "generate", "gym", "slurm", "campaign", "site", "when", "report", "cli"]

ENGINE = ["part", "axes", "jobs", "queue", "machine", "parts", "moments", "runs", "passes", "slurm", "rules"]
ENGINE += [
    "world",
    "kept_preparations",
    "prepared",
    "assembly",
    "pass_choice",
    "decisions",
    "loop",
    "logs",
    "driver",
    "prescored",
]
ENGINE += ["sc17_simulator", "jobs_that_never_start", "simulation", "warm_up", "many", "steps"]
"""Packages and modules of the engine; each imports only those before it. Records are named for type checkers alone."""

AMONG_PARTS = {
    "checkpoints": "preemption",
    "forecasts": "retries",
    "heterogeneous": "limits",
    "limits": "submission_limits",
    "moldable": "limits",
    "outages": "limits reservations",
    "preemption": "heterogeneous limits moldable outages suspension",
    "priority": "limits preemption",
    "requeues": "outages preemption",
    "reservations": "limits",
    "retries": "checkpoints heterogeneous outages preemption requeues reservations",
    "submission_limits": "dependencies",
    "suspension": "limits moldable preemption",
}
"""Which parts know which others. What parts have to do with each other otherwise is said in `moments`."""

HALVES = {"suspension": "preemption"}
"""Packages that are half of another part, and know it as it knows them."""

BY_PASSES = {
    "admission": "whether a job may start now, whatever is free",
    "dependencies": "whether a job waits for others, and when a task could begin by the plan",
    "heterogeneous": "components are planned one by one, and start together",
    "limits": "partitions whose nodes are kept for an earlier job; limits that fall with time",
    "malleable": "which size a job may have beside the plan of the pass, and the change of it",
    "moldable": "the turn of a job is that of the first of its alternatives",
    "outages": "closures are part of each plan, and no run may overlap one",
    "preemption": "which runs give way to a job, at the moment and in the plan",
    "retries": "which speculative run is worth the gap that a pass leaves",
    "stopping_limits": "who stops those behind it",
    "suspension": "which job starts in place of runs that stand still",
}
"""Which parts passes ask by name, beside the moments, and what: questions in the midst of a decision."""

MANY_ARGUMENTS = {
    # what users say of a simulation, by keyword
    *("simulation.simulate", "simulation.to_schedule", "prepared.prepare", "many.simulate_many.simulate_many"),
    *("steps.stepwise.__init__", "steps.stepwise.from_state"),
    # the simulator of SC'17 as it is: a loop of its own
    "sc17_simulator._run",
    # nodes: a view, a request, a node and what is taken there; no world, as plans have such views, too
    *("machine.nodes.move", "machine.nodes.change", "machine.timeline.hold", "machine.timeline._hold"),
    *("machine.slots._note_scan", "machine.core_caps.tasks_under"),
    # scores and state: which arrays, and from where to where in them
    *("queue.orders.evaluate_for", "jobs.state.new_state"),
}
"""Functions of the engine with more than six arguments, none of them in passes, Slurm's passes or parts."""

CAMPAIGN = ["sources", "definition", "run", "results"]
"""The walk of a task: made by a definition of its sources, run, and read by results."""


def imports(module: Path) -> set[str]:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("schedlab.")}


def test_each_room_imports_only_rooms_before_it():
    for place, room in enumerate(ROOMS):
        for module in (PACKAGE / room).rglob("*.py"):
            later = imports(module) & set(ROOMS[place + 1 :])
            assert not later, f"{module.relative_to(PACKAGE)} imports {', '.join(later)}"


def test_the_packages_of_the_engine_import_only_those_before_them():
    folder, upwards = PACKAGE / "engine", set()
    files = {".".join(path.relative_to(folder).with_suffix("").parts): path for path in folder.rglob("*.py")}
    assert {name.split(".")[0] for name in files} == {*ENGINE, "reference", "__init__"}
    known = {f"schedlab.engine.{name}" for name in files if not name.startswith("reference")}
    for module, path in files.items():
        if module.split(".")[-1].startswith("reference"):
            continue
        place = ENGINE.index(module.split(".")[0]) if module.split(".")[0] in ENGINE else len(ENGINE)
        for name in imported_at_once(path, known):
            other = name.removeprefix("schedlab.engine.")
            if ENGINE.index(other.split(".")[0]) > place:
                upwards.add((module, other))
    assert not upwards


def is_kernel(node: ast.AST) -> bool:
    """Return whether a definition in a module is that of a kernel, or of an operation of kernels."""
    words = {"kernel", "inner_kernel", "inlined", "bare_kernel", "for_python", "operation"}
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(word, ast.Name) and word.id in words for line in node.decorator_list for word in ast.walk(line)
    )


def test_the_reference_implementation_calls_no_kernel():
    folder, called = PACKAGE / "engine", set()
    references = [*folder.glob("reference/*.py"), *folder.glob("parts/*/reference*.py")]
    assert len(references) >= 30
    for path in references:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("schedlab."):
                continue
            source = PACKAGE.parent.joinpath(*(node.module or "").split(".")).with_suffix(".py")
            names, tree = {alias.name for alias in node.names}, ast.parse(source.read_text(encoding="utf-8"))
            called |= {(path.name, one.name) for one in ast.walk(tree) if is_kernel(one) and one.name in names}  # type: ignore[attr-defined]
            assert node.module != "schedlab.kernels"
    assert not called


def test_the_walk_of_a_campaign_task_goes_one_way():
    files = {path.name for path in (PACKAGE / "campaign").iterdir() if path.name != "__pycache__"}
    assert files - {"__init__.py", "__init__.pyi"} == set(CAMPAIGN)
    for place, room in enumerate(CAMPAIGN):
        for module in (PACKAGE / "campaign" / room).rglob("*.py"):
            text = module.read_text(encoding="utf-8")
            later = [name for name in CAMPAIGN[place + 1 :] if f"import schedlab.campaign.{name}" in text]
            later += [name for name in CAMPAIGN[place + 1 :] if f"from schedlab.campaign.{name}" in text]
            assert not later, f"{module.relative_to(PACKAGE)} imports {', '.join(later)}"


def test_campaigns_do_not_ask_which_kind_of_workload_it_is():
    for module in (PACKAGE / "campaign").rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                assert "Entry" not in ast.unparse(node), f"{module.relative_to(PACKAGE)}: {ast.unparse(node)}"


def imported_at_once(module: Path, known: set[str]) -> set[str]:
    """Return the modules that a module imports when it is imported itself; for type checkers alone does not count."""
    found: set[str] = set()
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found & known


def test_no_modules_import_each_other():
    files = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    imported = {name: imported_at_once(path, files.keys() - {name}) for name, path in files.items()}
    try:
        list(TopologicalSorter(imported).static_order())
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_a_part_imports_only_those_that_it_knows():
    folder, found = PACKAGE / "engine" / "parts", dict[str, set[str]]()
    known = {f"schedlab.engine.parts.{path.parent.name}.{path.stem}" for path in folder.glob("*/*.py")}
    for path in folder.glob("*/*.py"):
        if not path.name.startswith("reference"):
            others = {name.split(".")[3] for name in imported_at_once(path, known)}
            found.setdefault(path.parent.name, set()).update(others - {path.parent.name})
    assert {name: " ".join(sorted(others)) for name, others in found.items() if others} == AMONG_PARTS


def test_no_parts_know_each_other_but_halves():
    known = {}
    for name, others in AMONG_PARTS.items():
        part = HALVES.get(name, name)
        known.setdefault(part, set()).update({HALVES.get(other, other) for other in others.split()} - {part})
    assert list(TopologicalSorter(known).static_order())  # raises CycleError otherwise


def test_passes_ask_few_parts_by_name():
    folder = PACKAGE / "engine"
    files = {path.relative_to(folder).with_suffix("").parts for path in folder.glob("parts/**/*.py")}
    known = {".".join(("schedlab", "engine", *parts)) for parts in files}
    asked = {
        name
        for path in [*folder.glob("passes/*.py"), *folder.glob("slurm/*.py")]
        for name in imported_at_once(path, known)
    }
    assert {name.split(".")[3] for name in asked} == set(BY_PASSES)


def test_passes_and_parts_have_few_arguments():
    found = set()
    for module in (PACKAGE / "engine").rglob("*.py"):
        name = ".".join(module.relative_to(PACKAGE / "engine").with_suffix("").parts)
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                given = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                if len(given) - (given[:1] == ["self"]) > 6:
                    found.add(f"{name}.{node.name}")
    assert found == MANY_ARGUMENTS
    assert not [name for name in found if name.partition(".")[0] in ("passes", "slurm", "parts", "moments", "loop")]


def test_every_room_is_in_the_plan():
    assert {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(ROOMS)


def test_no_module_is_longer_than_a_sitting():
    for module in [*PACKAGE.rglob("*.py"), *PAPERS.rglob("*.py")]:
        lines = len(module.read_text(encoding="utf-8").splitlines())
        assert lines <= 410, f"{module.relative_to(PACKAGE.parent)} has {lines} lines"


def test_only_the_package_of_kernels_knows_how_numba_compiles():
    for module in [*PACKAGE.rglob("*.py"), *PAPERS.rglob("*.py")]:
        if PACKAGE / "kernels" not in module.parents:
            tree = ast.parse(module.read_text(encoding="utf-8"))
            names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
            compilers = {name for name in names if name.partition(".")[0] in {"numba", "llvmlite"}}
            assert not compilers, f"{module.relative_to(PACKAGE.parent)} imports {', '.join(compilers)}"
            inside = {name for name in names if name.startswith("schedlab.kernels.")}
            assert not inside, f"{module.relative_to(PACKAGE.parent)} imports {', '.join(inside)}"


def test_what_is_equal_to_itself_alone_inherits_no_comparison_of_fields():
    """A dataclass with eq=False whose parent is one without compares the parent's fields: perhaps none."""
    records: dict[str, tuple[bool, list[str]]] = {}
    for module in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            made = [ast.unparse(one) for one in node.decorator_list] if isinstance(node, ast.ClassDef) else []
            for one in made:
                if one.startswith("dataclass"):
                    own = any(isinstance(part, ast.FunctionDef) and part.name == "__eq__" for part in node.body)  # type: ignore[attr-defined]
                    records[node.name] = ("eq=False" not in one or own, [ast.unparse(base) for base in node.bases])  # type: ignore[attr-defined]
    alone = {name: bases for name, (compares, bases) in records.items() if not compares}
    assert len(alone) > 20
    assert [name for name, bases in alone.items() if any(records.get(base, (False,))[0] for base in bases)] == []


def test_the_papers_use_public_names_only():
    namespaces = {f"schedlab.{name}": getattr(schedlab, name) for name in schedlab.__all__}  # type: ignore[attr-defined]
    public = {"schedlab": schedlab} | {name: found for name, found in namespaces.items() if ismodule(found)}
    for module in PAPERS.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            assert not isinstance(node, ast.Import) or not any(name.name.startswith("schedlab.") for name in node.names)
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "schedlab":
                assert node.module in public, f"{module.name} imports from {node.module}"
                hidden = {name.name for name in node.names} - set(public[node.module].__all__)
                assert not hidden, f"{module.name} imports {', '.join(hidden)} from {node.module}"


def test_only_the_command_line_knows_the_papers():
    for module in PACKAGE.rglob("*.py"):
        if module != PACKAGE / "cli" / "papers.py":
            assert "schedlab_papers" not in module.read_text(encoding="utf-8"), f"{module.relative_to(PACKAGE)}"


def test_every_public_name_can_be_loaded():
    assert {"read_swf", "clean", "simulate", "compare", "Scheduler", "Workload"} <= set(schedlab.__all__)  # type: ignore[attr-defined]
    for name in schedlab.__all__:  # type: ignore[attr-defined]
        assert getattr(schedlab, name) is not None
