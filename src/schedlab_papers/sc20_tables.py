"""The tables of SC'20 beside ours, and what its agent's gain is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from schedlab_papers.reproduction import Reproduction, Row, TextTable
from schedlab_papers.sc20_logs import AGENT, POLICIES, Sc20Log

Key = tuple[str, bool]
"""A policy, and whether there is backfilling."""

SAF = "SAF"

WITH = {False: "without backfilling", True: "with backfilling"}


class Results(NamedTuple):
    """Means over the windows of a log.

    Parameters
    ----------
    committed, utilisation
        By the paper's rules.
    put_right
        Slowdowns by the paper's rules, but with waiting times that are right.
    uncommitted
        Slowdowns without commitment: every event is a new decision; with EASY for backfilling.
    """

    committed: dict[Key, float]
    utilisation: dict[Key, float]
    put_right: dict[Key, float]
    uncommitted: dict[Key, float]


UNCOMMITTED = "every event is a new decision"
TRAINED = "The agent's value is the paper's: its networks were not trained again here."


def slowdown_table(logs: Sequence[Sc20Log], results: Mapping[str, Results]) -> Reproduction:
    """Return the mean bounded slowdowns."""
    rows = []
    same, compared = 0, 0
    for log in logs:
        for backfilling, label in WITH.items():
            published = log.published(backfilling)[0]
            for policy in POLICIES:
                ours = results[log.name].committed[policy, backfilling]
                same, compared = same + (f"{ours:.2f}" == f"{published[policy]:.2f}"), compared + 1
                other = results[log.name].uncommitted[policy, backfilling]
                rows.append(Row(f"{log.name}, {label}", policy, published[policy], ours=ours, alternative=other))
            rows.append(Row(f"{log.name}, {label}", AGENT, published[AGENT], notes=(TRAINED,)))
    title = (
        f"SC'20, Tables V and VI: mean bounded slowdown of ten windows; {same} of {compared} heuristic values to the "
        "last printed digit"
    )
    return Reproduction(title, "uncommitted", tuple(rows), UNCOMMITTED)


def utilisation_table(logs: Sequence[Sc20Log], results: Mapping[str, Results]) -> Reproduction:
    """Return the utilisations, of the time up to the last start."""
    rows = []
    same, compared = 0, 0
    for log in logs:
        for backfilling, label in WITH.items():
            published = log.published(backfilling)[1]
            for policy in POLICIES:
                ours = results[log.name].utilisation[policy, backfilling]
                same, compared = same + (abs(ours - published[policy]) < 0.005), compared + 1
                rows.append(Row(f"{log.name}, {label}", policy, published[policy], ours=ours))
    title = f"SC'20, Tables V and VI: utilisation; {same} of {compared} heuristic values to half a percent point"
    return Reproduction(title, "", tuple(rows))


def values_table(logs: Sequence[Sc20Log], results: Mapping[str, Results]) -> TextTable:
    """Return the best of the paper's policies under each rule, beside its agent and SAF."""
    rows: list[tuple[str | float | None, ...]] = []
    for log in logs:
        one = results[log.name]
        row: list[str | float | None] = [log.name]
        for backfilling in WITH:
            row += [_best(one.committed, backfilling), log.published(backfilling)[0][AGENT]]
            row += [_best(one.uncommitted, backfilling), one.uncommitted[SAF, backfilling]]
        rows.append(tuple(row))
    labels = ("best of five, committed", "RL, committed (paper)", "best of five, uncommitted", "SAF, uncommitted")
    return TextTable(
        "Mean bounded slowdown by rule",
        ("log", *labels, *(f"{label}, backfilling" for label in labels)),
        tuple(rows),
        notes=(
            "best of five: the best of the paper's policies on these windows, chosen with the answer known",
            f"committed: the picked job is waited for, whatever comes; uncommitted: {UNCOMMITTED}",
            "backfilling: first come, first served before the reservation if committed, EASY if uncommitted",
        ),
    )


def split_table(logs: Sequence[Sc20Log], results: Mapping[str, Results]) -> TextTable:
    """Return what the gain is made of: factors by which mean bounded slowdowns become smaller."""
    rows: list[tuple[str | float | None, ...]] = []
    for log in logs:
        one = results[log.name]
        plain, filled = _best(one.committed, False), _best(one.committed, True)
        agent, filled_agent = (log.published(backfilling)[0][AGENT] for backfilling in WITH)
        best = min(_best(one.uncommitted, False), one.uncommitted[SAF, False])
        filled_best = min(_best(one.uncommitted, True), one.uncommitted[SAF, True])
        rows.append(
            (
                log.name,
                *(plain / agent, filled / filled_agent),
                plain / filled,
                *(plain / _best(one.uncommitted, False), filled / _best(one.uncommitted, True)),
                *(plain / best, filled / filled_best),
                min(agent, filled_agent) / min(best, filled_best),
            )
        )
    return TextTable(
        "What the gain is made of: how many times smaller the mean bounded slowdown becomes",
        (
            "log",
            "learning",
            "learning, backfilling",
            "backfilling",
            "no commitment",
            "no commitment, backfilling",
            "... and SAF",
            "... and SAF, backfilling",
            "best RL to best uncommitted",
        ),
        tuple(rows),
        notes=(
            "learning: best of five to RL, both committed; backfilling: best of five without to with, committed",
            "no commitment: best of five committed to best of five uncommitted; ... and SAF: SAF is a sixth candidate",
            "best RL to best uncommitted: above 1, a policy that has learned nothing beats the agent of the paper",
            "factors of separate comparisons: they do not multiply to a whole",
        ),
    )


def bug_table(logs: Sequence[Sc20Log], results: Mapping[str, Results]) -> TextTable:
    """Return what the waiting times in WFP3 and UNI change."""
    rows: list[tuple[str | float | None, ...]] = [
        (
            log.name,
            WITH[backfilling],
            policy,
            one.committed[policy, backfilling],
            value,
            one.uncommitted[policy, backfilling],
        )
        for log in logs
        for one in (results[log.name],)
        for (policy, backfilling), value in one.put_right.items()
    ]
    return TextTable(
        "The waiting time in WFP3 and UNI",
        ("log", "", "policy", "as published", "put right, committed", "put right, uncommitted"),
        tuple(rows),
        notes=("as published: the waiting time is -1 less the submit time, whatever the time is",),
    )


def _best(values: Mapping[Key, float], backfilling: bool) -> float:
    return min(values[policy, backfilling] for policy in POLICIES)
