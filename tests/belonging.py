"""Which tests belong to a change, by imports: those within two steps of a changed file, and within four in its package.

    python tests/belonging.py src/schedlab/engine/parts/submission_limits/kernels.py

A step is an import; a package that only hands on names, such as `schedlab` itself, is none. A changed test belongs to
itself; a file that nothing imports (a page, a table of cases) belongs to the tests whose text has its name.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEAR = 2
FAR = 4
"""Steps for the tests of the same package, whose directories have the same names."""


def modules() -> dict[str, Path]:
    """Return the file of each module: of the packages by their names, of the tests by their paths."""
    found = {".".join(path.relative_to(ROOT / "src").with_suffix("").parts): path for path in _files("src")}
    found = {name.removesuffix(".__init__"): path for name, path in found.items()}
    return found | {str(path.relative_to(ROOT)): path for path in _files("tests")}


def _files(directory: str) -> list[Path]:
    return sorted((ROOT / directory).rglob("*.py"))


def imports(path: Path, known: dict[str, Path], tests: dict[str, set[str]]) -> set[str]:
    """Return the modules that a module imports, those behind names that packages hand on included.

    Tests import each other by last names, which several may have: all of those are meant.
    """
    named = set(_imported(ast.parse(path.read_text(encoding="utf-8")), known))
    return set().union(named & known.keys(), *(tests.get(name, set()) for name in named))


def _is_test(path: Path) -> bool:
    return path.is_relative_to(ROOT / "tests")


def _imported(tree: ast.AST, known: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            if any(alias.name == "schedlab" for alias in node.names):
                yield from _attributes(tree, known)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (_home(node.module, alias.name, known) for alias in node.names)


def _attributes(tree: ast.AST, known: dict[str, Path]) -> Iterator[str]:
    """Yield the homes of names such as `sl.simulate`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("sl", "schedlab"):
            yield _home("schedlab", node.attr, known)


def _home(module: str, name: str, known: dict[str, Path]) -> str:
    """Return the module that a name of a module comes from."""
    if f"{module}.{name}" in known:
        return f"{module}.{name}"
    path = known.get(module)
    if path is None or path.name != "__init__.py":
        return module
    stub = path.with_suffix(".pyi")
    tree = ast.parse((stub if stub.exists() else path).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in node.names):
            inner = ".".join(filter(None, (module if node.level else "", node.module)))
            return inner if inner == module else _home(inner, name, known)
    return module


def tests_of(changed: Iterable[Path]) -> list[Path]:
    """Return the files of tests that belong to changed files."""
    known = modules()
    names = {path: name for name, path in known.items()}
    users, tests = dict[str, set[str]](), dict[str, set[str]]()
    for name, path in known.items():
        if _is_test(path):
            tests.setdefault(path.stem, set()).add(name)
    for name, path in known.items():
        for other in imports(path, known, tests) - {name}:
            users.setdefault(other, set()).add(name)
    found = set()
    for path in changed:
        whole = path.resolve()
        if whole not in names:
            found |= _naming(whole, known)
            continue
        steps = _steps(names[whole], users)
        found |= {name for name, count in steps.items() if count <= NEAR or _package(known[name]) == _package(whole)}
    return sorted(known[name] for name in found if known[name].name.startswith("test_"))


def _steps(name: str, users: dict[str, set[str]]) -> dict[str, int]:
    """Return how many imports there are between a module and those that come to it."""
    steps, new = {name: 0}, {name}
    for count in range(1, FAR + 1):
        new = set().union(*(users.get(one, set()) for one in new)) - steps.keys()
        steps |= dict.fromkeys(new, count)
    return steps


def _package(path: Path) -> str:
    """Return the package of a module, or that of which a test is."""
    parts = path.relative_to(ROOT).parts
    return parts[1] if parts[0] == "tests" and len(parts) > 2 else parts[2] if len(parts) > 3 else path.stem


def _naming(path: Path, known: dict[str, Path]) -> set[str]:
    text = f"{path.name} {path.stem}".split()
    return {
        name
        for name, test in known.items()
        if _is_test(test) and any(f'"{one}"' in test.read_text(encoding="utf-8") for one in text)
    }


def main() -> int:
    """Print the tests of some files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    missing = [str(path) for path in given.files if not path.exists()]
    if missing:
        print(f"there is no file {missing[0]}", file=sys.stderr)
        return 1
    found = tests_of(given.files)
    if not found:
        print(f"no test comes to {given.files[0]} by imports: make test runs all quick ones", file=sys.stderr)
        return 1
    print(*(path.relative_to(ROOT) for path in found), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
