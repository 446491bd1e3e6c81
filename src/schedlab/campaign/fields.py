"""Fields of campaign files: durations, lists that may be single values, tables that refuse what they do not know."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from schedlab.workload.sampling import DAY, WEEK

UNITS = {"s": 1, "min": 60, "h": 3_600, "d": DAY, "w": WEEK}

_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*")


def seconds(value: Any) -> Any:
    """Return the seconds of a duration such as "15d", "2 h" or "90 min"; numbers as they are.

    Examples
    --------
    >>> seconds("15d"), seconds("1.5 h"), seconds(30)
    (1296000.0, 5400.0, 30)
    """
    if isinstance(value, bool):
        raise ValueError(f"{str(value).lower()} is not a duration; write for example '90 min', '2h', '15d'")
    if not isinstance(value, str):
        return value
    match = _DURATION.fullmatch(value)
    if match is None or match[2] not in UNITS:
        raise ValueError(f"{value!r} is not a duration; write a number of seconds or for example '90 min', '2h', '15d'")
    return float(match[1]) * UNITS[match[2]]


def listed(value: Any) -> Any:
    """Return a list as it is, and anything else as a list of itself."""
    return value if isinstance(value, list | tuple) else (value,)


LONGEST = 100 * 366 * DAY

Duration = Annotated[float, BeforeValidator(seconds), Field(gt=0, le=LONGEST, allow_inf_nan=False)]
Loads = Annotated[
    tuple[Annotated[float, Field(gt=0, allow_inf_nan=False)], ...],
    BeforeValidator(listed),
    AfterValidator(lambda loads: tuple(dict.fromkeys(loads))),
]
Texts = Annotated[tuple[str, ...], BeforeValidator(listed)]


class Section(BaseModel):
    """A table of a campaign file: unknown fields are refused, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)
