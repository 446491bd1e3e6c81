"""The examples in docstrings are right."""

from __future__ import annotations

import doctest
from importlib import import_module
from importlib.util import find_spec
from pkgutil import walk_packages

import pytest

import schedlab
import schedlab_papers


def _examples() -> list[doctest.DocTest]:
    names = [
        name
        for package in (schedlab, schedlab_papers)
        for name in (
            package.__name__,
            *(module.name for module in walk_packages(package.__path__, f"{package.__name__}.")),
        )
    ]
    if find_spec("gymnasium") is None:  # an extra
        names = [name for name in names if not name.startswith("schedlab.gym.")]
    found = (test for name in names for test in doctest.DocTestFinder().find(import_module(name)))
    return [test for test in found if test.examples]


@pytest.mark.parametrize("example", _examples(), ids=lambda example: example.name)
def test_the_examples_of_a_docstring_are_right(example: doctest.DocTest) -> None:
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=report.append)
    assert result.failed == 0, "".join(report)
