"""Fields of campaign files: durations, lists that may be single values, tables that refuse what they do not know."""

from __future__ import annotations

import os
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from schedlab.durations import DAY, parse_duration


def seconds(value: Any) -> Any:
    """Return the seconds of a duration, see `schedlab.durations.parse_duration`; numbers as they are.

    Examples
    --------
    >>> seconds("15d"), seconds("1.5 h"), seconds("1-12:00:00"), seconds(30)
    (1296000.0, 5400.0, 129600.0, 30)
    """
    if isinstance(value, bool):
        raise ValueError(f"{str(value).lower()} is not a duration; write for example '90 min', '2h', '15d'")
    return parse_duration(value) if isinstance(value, str) else value


def listed(value: Any) -> Any:
    """Return a list as it is, and anything else as a list of itself."""
    return value if isinstance(value, list | tuple) else (value,)


def expanded(path: str) -> str:
    """Return a path with `~` and environment variables expanded."""
    return os.path.expandvars(os.path.expanduser(path))


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
