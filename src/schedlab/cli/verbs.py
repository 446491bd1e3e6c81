"""The verbs of the program by who needs them, and where a verb is that was looked for in the wrong place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

GROUPS = {
    "Begin": ("demo", "inspect", "simulate", "compare", "report"),
    "For operators of a cluster": ("site", "when", "cluster", "slurm", "deploy"),
    "For studies: jobs": ("fetch", "convert", "generate", "model", "workflow"),
    "For studies: simulations": ("campaign", "analyse", "explain", "gantt", "requests", "reproduce"),
    "For energy": ("energy", "switch-off", "defer"),
    "For policies and predictions": ("schedulers", "predict", "search", "learn", "agent"),
    "The program itself": ("warm-up", "versions"),
}
"""All verbs of the first level, in the order of the help."""

BEGIN = (
    "Begin with `schedlab demo`. With a log: `schedlab compare LOG -s easy -s saf+easy`. With a cluster of your own: "
    "`schedlab site import --conf DIR --sacct FILE -o SITE`, then `schedlab site what-if SITE --set ...`."
)
"""What stands below the help."""

NO_VERB = {
    "describe": "schedlab cluster show describes a cluster, and schedlab inspect a log",
    "drain": "schedlab site maintenance compares when to drain nodes",
    "nodes": "schedlab site capacity finds how many nodes a site needs",
    "policies": "schedlab schedulers lists the policies",
    "policy": "schedlab schedulers lists the policies",
    "power": "schedlab energy says what a schedule or a log took in energy",
    "queue": "schedlab when forecasts when waiting jobs will start",
    "replay": "schedlab simulate replays a log, and schedlab site calibrate that of a site",
    "start": "schedlab when forecasts when jobs will start",
    "twin": "schedlab site import makes the twin of a site",
    "wait": "schedlab site explain says why jobs wait",
    "why": "schedlab site explain says why jobs wait",
}
"""Words that are no verbs anywhere, and what is meant."""


def group_of(verb: str) -> str | None:
    """Return the group of a verb of the first level; None if it has none.

    Examples
    --------
    >>> group_of("deploy")
    'For operators of a cluster'
    """
    return next((group for group, verbs in GROUPS.items() if verb in verbs), None)


def in_order(verbs: Iterable[str]) -> list[str]:
    """Return verbs in the order of the help, those without a group last."""
    order = [verb for group in GROUPS.values() for verb in group]
    return sorted(verbs, key=lambda verb: order.index(verb) if verb in order else len(order))


def meant_by(word: str, inner: Mapping[str, Iterable[str]]) -> str:
    """Return what is meant by a word that is no verb; "" if that is not known.

    Parameters
    ----------
    word
        What was written.
    inner
        The verbs of the second level, by the one of the first.

    Examples
    --------
    >>> meant_by("what-if", {"site": ["import", "what-if"], "model": ["fit"]})
    'write schedlab site what-if'
    >>> meant_by("show", {"site": ["show"], "model": ["show"], "learn": ["fit"]})
    'write schedlab model show or schedlab site show'
    >>> meant_by("whatif", {"site": ["import", "what-if"], "model": ["fit"]})
    'did you mean schedlab site what-if?'
    """
    if places := _places(word, inner):
        return f"write {places}"
    if word in NO_VERB:
        return NO_VERB[word]
    known = {*inner, *(one for verbs in inner.values() for one in verbs)}
    close = get_close_matches(word, sorted(known), n=1, cutoff=0.75)
    if close and close[0] not in inner:  # those of the first level are found by the command line itself
        return f"did you mean {_places(close[0], inner)}?"
    return ""


def _places(word: str, inner: Mapping[str, Iterable[str]]) -> str:
    """Return where a verb of the second level is; "" if nowhere."""
    return " or ".join(sorted(f"schedlab {verb} {word}" for verb, verbs in inner.items() if word in verbs))
