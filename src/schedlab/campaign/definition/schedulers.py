"""The schedulers of a campaign: texts, and grids of their parts."""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from schedlab.campaign.sources.fields import Section, Texts, listed
from schedlab.naming import checked_name
from schedlab.scheduler.agent import with_whole_path
from schedlab.scheduler.grammar import BACKFILLING
from schedlab.scheduler.importable import importable_text
from schedlab.scheduler.own_objects import names_an_object
from schedlab.scheduler.policy_file import with_formulas
from schedlab.scheduler.scheduler import Scheduler

MOST_SCHEDULERS = 10_000
"""Of a campaign: all of them are parsed before anything runs."""


class SchedulerGrid(Section):
    """Schedulers by their parts; lists multiply.

    An `order` is for EASY alone. `order_runtimes` are the run times that policy and order assume, if not `runtimes`.

    Examples
    --------
    >>> SchedulerGrid(policy=["fcfs", "saf"], backfill=["none", "easy"]).texts()
    ['fcfs', 'fcfs+easy', 'saf', 'saf+easy']
    >>> SchedulerGrid(policy="saf", backfill=["none", "easy"], order_runtimes=["similar", "actual"]).texts()
    ['saf@similar', 'saf@actual', 'saf@similar+easy@requested', 'saf@actual+easy@requested']
    """

    policy: Texts
    backfill: Texts = ("none",)
    order: Texts = ()
    order_runtimes: Texts = ()
    runtimes: Texts = ("requested",)
    starvation: Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(listed)] = ()
    window: Annotated[tuple[Annotated[int, Field(ge=1)], ...], BeforeValidator(listed)] = ()

    @field_validator("policy", "order")
    @classmethod
    def _formulas(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(with_whole_path(with_formulas(text)) for text in value)

    @field_validator("backfill")
    @classmethod
    def _known_backfill(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        known = ("none", *BACKFILLING)
        for name in value:
            if name.partition("(")[0] not in known and not names_an_object(name):
                raise ValueError(f"unknown backfilling {name!r}; known are {', '.join(known)}, or MODULE:NAME")
        return value

    @model_validator(mode="after")
    def _known_schedulers(self) -> SchedulerGrid:
        if self.order and "easy" not in self.backfill:
            raise ValueError("order (of backfill candidates) needs easy backfilling: add it, or remove order")
        if len(self) > MOST_SCHEDULERS:
            raise ValueError(f"the lists combine to {len(self):,} schedulers; the maximum is {MOST_SCHEDULERS:,}")
        for text in self.texts():
            Scheduler.parse(text)
        return self

    def __len__(self) -> int:
        lists = (self.policy, self.backfill, self.order, self.runtimes, self.starvation, self.window)
        return math.prod(max(len(values), 1) for values in lists)

    def texts(self) -> list[str]:
        """Return the scheduler texts of all combinations, the last list running fastest."""
        parts = (self.policy, self.backfill, self.order or (None,), self.order_runtimes or (None,), self.runtimes)
        options = (self.starvation or (None,), self.window or (None,))
        return [self._text(*chosen) for chosen in itertools.product(*parts, *options)]

    @staticmethod
    def _text(
        policy: str,
        backfill: str,
        order: str | None,
        order_runtimes: str | None,
        runtimes: str,
        starvation: int | None,
        window: int | None,
    ) -> str:
        text = policy
        if backfill == "none":
            runtimes, order_runtimes = order_runtimes or runtimes, None
        else:
            text += f"@{order_runtimes}" if order_runtimes else ""
            text += f"+{backfill}" + (f":{order}" if order and backfill == "easy" else "")
        if runtimes != "requested" or order_runtimes:
            text += f"@{runtimes}"
        for name, value in (("starvation", starvation), ("window", window)):
            text += f",{name}={value}" if value is not None else ""
        return text


def with_names(schedulers: Any) -> Any:
    """Return a list of texts and tables, given as a list, as one, or as a table of names; objects become texts."""
    if isinstance(schedulers, dict) and schedulers and not schedulers.keys() & SchedulerGrid.model_fields.keys():
        named = {name: _text_of(one) for name, one in schedulers.items()}
        return [f"{checked_name(name)}={text}" if isinstance(text, str) else text for name, text in named.items()]
    return [_text_of(one) for one in listed(schedulers)]


def _text_of(given: Any) -> Any:
    """Return the text of a scheduler as other processes can read it; what is no `Scheduler` stays as it is."""
    return importable_text(given) if isinstance(given, Scheduler) else given


def _form(item: Any) -> str:
    return "<text>" if isinstance(item, str) else "<parts>"


SchedulerEntry = Annotated[
    Annotated[str, AfterValidator(lambda text: Scheduler.parse(with_whole_path(text)).text), Tag("<text>")]
    | Annotated[SchedulerGrid, Tag("<parts>")],
    Discriminator(_form),
]


def canonical_texts(schedulers: tuple[str | SchedulerGrid, ...]) -> list[str]:
    """Return the canonical texts of all schedulers, each once, in the order given."""
    texts = itertools.chain.from_iterable([item] if isinstance(item, str) else item.texts() for item in schedulers)
    return list(dict.fromkeys(Scheduler.parse(text).text for text in texts))
