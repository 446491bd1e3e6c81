"""A kind of input that is fuzzed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Harm = Callable[[bytes, random.Random], bytes]


@dataclass(frozen=True)
class Target:
    """A kind of input.

    Parameters
    ----------
    name
        Of the kind.
    file
        What the file is called; empty if the input is a word of the command line.
    sound
        Its content, which every command accepts.
    harm
        How it is harmed.
    commands
        Command lines that read it; FILE stands for it, DIR for the directory with sound files of all kinds.
    seal
        Makes checksums right again that harm has made wrong.
    how
        "compiled": only with compiled kernels, since much is read; "plain": only with the kernels as plain Python,
        since each case would have others compiled. In plain Python, an index out of bounds is a traceback.
    """

    name: str
    file: str
    sound: bytes
    harm: Harm
    commands: tuple[str, ...]
    seal: Callable[[bytes], bytes] = bytes
    how: Literal["either", "compiled", "plain"] = "either"
