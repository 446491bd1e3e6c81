"""Host lists: many names of nodes in a short text, as Slurm writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

from schedlab.errors import InputError
from schedlab.wording import shown

MOST_NAMES = 1 << 20
"""Names that a host list may stand for: a wrong digit must not fill the memory."""

_WORD = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")
_NUMBERED = re.compile(r"(.*?)(\d{1,18})(\D*)", re.DOTALL)


def host_names(expression: str) -> list[str]:
    """Return the names of a host list.

    Raises
    ------
    InputError
        If it is not a host list.

    Examples
    --------
    >>> host_names("b1,gn[003-004,9],m[1-2]-ib,r[1-2]n[0-1]")
    ['b1', 'gn003', 'gn004', 'gn9', 'm1-ib', 'm2-ib', 'r1n0', 'r1n1', 'r2n0', 'r2n1']
    """
    words = host_words(expression)
    if ",".join(words) != expression.strip(","):
        raise InputError(f"{shown(expression)} is not a host list such as n[1-20,30]")
    names: list[str] = []
    for word in words:
        parts = _BRACKETS.split(word.strip())  # text, numbers, text, numbers, ..., text
        choices = [list(_numbers(part, word)) if place % 2 else [part] for place, part in enumerate(parts)]
        size = len(names)
        for choice in choices:
            size = max(size, 1) * len(choice)
        if size > MOST_NAMES:
            raise InputError(f"{shown(expression)} names more than {MOST_NAMES:,} nodes")
        names += map("".join, product(*choices))
    return names


def host_words(expression: str) -> list[str]:
    """Return the parts of a host list between its commas, but for those in brackets.

    Examples
    --------
    >>> host_words("n[1-2,9]:1,m1")
    ['n[1-2,9]:1', 'm1']
    """
    return _WORD.findall(expression)


def _numbers(ranges: str, word: str) -> Iterator[str]:
    for part in ranges.split(","):
        matched = _RANGE.fullmatch(part.strip())
        if matched is None:
            raise InputError(
                f"{shown(word)} is not a host list such as n[1-20,30]: {shown(part)} is not a range of numbers"
            )
        first, last = matched[1], matched[2] or matched[1]
        if int(last) < int(first):
            raise InputError(f"{shown(word)} is not a host list: the range {part} ends before it begins")
        if int(last) - int(first) >= MOST_NAMES:
            raise InputError(f"{shown(word)} names more than {MOST_NAMES:,} nodes")
        for number in range(int(first), int(last) + 1):
            yield f"{number:0{len(first)}d}"


def host_list(names: Iterable[str]) -> str:
    """Return a host list that stands for these names, in this order.

    Examples
    --------
    >>> host_list(["n01", "n02", "n03", "n7", "login"])
    'n[01-03,7],login'
    """
    words: list[tuple[str, list[list[str]], str]] = []
    for name in names:
        matched = _NUMBERED.fullmatch(name)
        before, number, after = matched.groups() if matched else (name, "", "")
        if not (number and words and words[-1][1] and (words[-1][0], words[-1][2]) == (before, after)):
            words.append((before, [[number, number]] if number else [], after))
            continue
        first, last = words[-1][1][-1]
        if f"{int(last) + 1:0{len(first)}d}" == number:
            words[-1][1][-1][1] = number
        else:
            words[-1][1].append([number, number])
    return ",".join(_word(*word) for word in words)


def _word(before: str, ranges: list[list[str]], after: str) -> str:
    written = ",".join(first if first == last else f"{first}-{last}" for first, last in ranges)
    single = not ranges or (len(ranges) == 1 and ranges[0][0] == ranges[0][1])
    return f"{before}{written}{after}" if single else f"{before}[{written}]{after}"


def name_order(name: str) -> list[tuple[int, int, str, str]]:
    """Return a key that sorts names as Slurm sorts nodes: numbers in them count as numbers.

    Examples
    --------
    >>> sorted(["n10", "n9", "b1", "gn1", "g2"], key=name_order)
    ['b1', 'g2', 'gn1', 'n9', 'n10']
    """
    return [_part_order(part) for part in re.split(r"(\d+)", name) if part]


def _part_order(part: str) -> tuple[int, int, str, str]:
    """Return a key that sorts digits by their number, of however many digits, before other text."""
    digits = part.lstrip("0")
    return (0, len(digits), digits, part) if part.isdecimal() else (1, 0, part, part)
