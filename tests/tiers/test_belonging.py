"""Which tests belong to a change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def printed(*files: str) -> list[str]:
    """Return the tests that the program prints for some files."""
    program = [sys.executable, str(TESTS / "belonging.py"), *files]
    return subprocess.run(program, cwd=TESTS.parent, capture_output=True, text=True, check=True).stdout.splitlines()


def test_tests_of_one_name_in_two_rooms_belong_to_what_each_of_them_tests():
    both = printed("src/schedlab/cli/predictions.py", "src/schedlab/report/predictions.py")
    assert {"tests/cli/test_predictions.py", "tests/report/test_predictions.py"} <= set(both)


def test_a_test_belongs_to_what_it_imports_through_what_tests_share():
    assert "tests/predict/test_contract.py" in printed("tests/predict/predict_samples.py")
