"""All kinds of workload of a campaign, told apart by what their entries say."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import BeforeValidator, ConfigDict, Discriminator, Tag

from schedlab.campaign.sources.entry import Entry
from schedlab.campaign.sources.experiment import ExperimentEntry
from schedlab.campaign.sources.fields import Section
from schedlab.campaign.sources.model import ModelEntry
from schedlab.campaign.sources.stochastic import StochasticEntry
from schedlab.campaign.sources.trace import TraceEntry

KINDS: tuple[type[Entry], ...] = (TraceEntry, ModelEntry, StochasticEntry, ExperimentEntry)

GENERATED = {get_args(kind.model_fields["generate"].annotation)[0]: kind for kind in KINDS[1:]}
"""Kinds that are generated, by what `generate` says."""


def _refused(value: Any) -> Any:
    raise ValueError(f"unknown generator {value!r}; known are {', '.join(GENERATED)}")


class _Unknown(Section):
    """An entry that says `generate`, and something that is not known."""

    model_config = ConfigDict(extra="ignore")

    generate: Annotated[Any, BeforeValidator(_refused)]


def _tag(entry: Any) -> str:
    """Return the tag of an entry's kind; errors leave out what is between these brackets."""
    generate = entry.get("generate") if isinstance(entry, dict) else getattr(entry, "generate", None)
    return "<trace>" if generate is None else f"<{generate}>" if generate in list(GENERATED) else "<unknown>"


if TYPE_CHECKING:
    WorkloadEntry = Entry
else:
    _TAGGED = [Annotated[TraceEntry, Tag("<trace>")], Annotated[_Unknown, Tag("<unknown>")]]
    _TAGGED += [Annotated[kind, Tag(f"<{name}>")] for name, kind in GENERATED.items()]
    WorkloadEntry = Annotated[reduce(or_, _TAGGED), Discriminator(_tag)]
