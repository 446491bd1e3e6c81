"""Policies as JSON files: the formula, its coefficients, and its training data.

In a scheduler text `@FILE` is replaced by the formula of the file, wherever a policy may be: "@policy.json+easy",
'@"my policy.json"+easy', "fcfs+easy:@policy.json". The file is read immediately and the text of the scheduler holds the
formula, so that no result depends on a file that may change.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from schedlab.arguments import explained
from schedlab.atomic import atomic_path
from schedlab.documents import read_json
from schedlab.errors import InputError
from schedlab.scheduler.policy import FormulaPolicy

VERSION = 1
"""The version of the file format; files of other versions are refused."""

_REFERENCE = re.compile(
    r"""(?P<before>^\s*|:\s*)@\s*(?!agent\s*:)(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^"'+@,:]+))"""
)


@dataclass(frozen=True)
class PolicyFile:
    """A policy, and how it was learned.

    Parameters
    ----------
    formula
        The policy, as in a scheduler text.
    coefficients
        Numbers in the formula, or from which it was computed, by name.
    training
        The training data and the method: files with fingerprints, settings, versions.

    Raises
    ------
    InputError
        If the formula is not valid.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "policy.json"
    >>> PolicyFile("p*q + 850*log10(r)", {"c1*c2": 2e-6, "c3": 0.0017}).save(path)
    >>> read_policy_file(path).policy.text
    '"p*q + 850*log10(r)"'
    """

    formula: str
    coefficients: Mapping[str, float] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        FormulaPolicy(self.formula)

    @property
    def policy(self) -> FormulaPolicy:
        """The formula as a policy."""
        return FormulaPolicy(self.formula)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file."""
        return {
            "version": VERSION,
            "formula": self.formula,
            "coefficients": dict(self.coefficients),
            "training": dict(self.training),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file.

        Raises
        ------
        OutputError
            If it cannot be written; no partial file is left.
        """
        text = json.dumps(self.to_dict(), indent=2, default=_plain, ensure_ascii=False)
        with atomic_path(path) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")


def _is_number(value: Any) -> bool:
    """Return whether a value is a finite number that a formula may hold."""
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False


def _plain(value: Any) -> Any:
    """Return NumPy scalars and arrays as JSON values, and anything else as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


@explained
def read_policy_file(path: str | PathLike[str]) -> PolicyFile:
    """Read a policy file.

    Raises
    ------
    InputError
        If the file cannot be read, is not a policy, or is of another version.
    """
    document = read_json(path, "policy")
    if not isinstance(document, dict) or "version" not in document:
        raise InputError(f"{path} is not a policy file: write one with schedlab learn fit")
    version = document["version"]
    if type(version) is not int or version != VERSION:
        raise InputError(
            f"{path} is a policy file of version {version!r}; this schedlab reads {VERSION}: learn the "
            "policy again, or copy its formula into the scheduler text"
        )
    formula, coefficients, training = (document.get(key) for key in ("formula", "coefficients", "training"))
    if not isinstance(formula, str) or not isinstance(coefficients, dict) or not isinstance(training, dict):
        raise InputError(f"{path} is damaged: formula, coefficients or training is missing")
    if not all(_is_number(value) for value in coefficients.values()):
        raise InputError(f"{path} is damaged: a coefficient is not a number")
    try:
        return PolicyFile(formula, coefficients, training)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def with_formulas(text: str) -> str:
    """Return a scheduler text with the formula of each policy file, in double quotes, in place of the file.

    Raises
    ------
    InputError
        If a file is not valid; see `read_policy_file`.

    Examples
    --------
    >>> with_formulas("saf+easy@actual")
    'saf+easy@actual'
    """

    def formula(match: re.Match[str]) -> str:
        path = match["double"] or match["single"] or (match["bare"] or "").strip()
        if not path:
            raise InputError(f"scheduler {text!r}: no policy file is named: write for example @policy.json+easy")
        return f"{match['before']}{read_policy_file(path).policy.text}"

    return _REFERENCE.sub(formula, text)
