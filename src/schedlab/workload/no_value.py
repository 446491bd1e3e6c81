"""Words that programs write in tables where there is no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

WORDS = frozenset(
    (
        *("", "-", "--", "?", "\\n", "(null)", "<na>", "n/a", "na", "nan", "nat", "nil", "none", "none assigned"),
        *("null", "undefined", "unknown", "unset"),
    )
)
"""In lower case; where a number, a time or a duration belongs, none of them is one."""

NO_NAMES = ("", "(null)", "<NA>", "NaN", "nan", "NaT", "None", "NULL", "null", "\\N")
"""The same where a name belongs: a user may be called na, a partition unknown."""

SPELLINGS = sorted({form for word in WORDS for form in (word, word.upper(), word.capitalize(), word.title())})
SPELLINGS += ["NaN", "NaT", "<Na>"]
"""How the words are written, for pandas."""


def say_nothing(cells: pd.Series[Any], *, names: bool = False) -> NDArray[np.bool_]:
    """Return which cells of text say that there is no value.

    Examples
    --------
    >>> import pandas as pd
    >>> cells = pd.Series(["7", "None", "NaT", "N/A", "-", "na"])
    >>> say_nothing(cells).tolist(), say_nothing(cells, names=True).tolist()
    ([False, True, True, True, True, True], [False, True, True, False, False, False])
    """
    if names:
        return cells.isin(NO_NAMES).to_numpy()
    return cells.str.strip().str.lower().isin(WORDS).to_numpy()
