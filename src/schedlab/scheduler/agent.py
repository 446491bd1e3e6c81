"""A trained agent as a scheduler: `@agent:FILE` in a scheduler text.

The agent alone decides which of the jobs that fit starts now, or that none starts until the next event. Its canonical
text ends with a digest of its computation, `@agent:lublin.json#1a2b3c4d`, so that results of different agents are not
confused; a text whose digest does not match the file is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from schedlab.errors import InputError
from schedlab.naming import split_name
from schedlab.scheduler.agent_file import DECISIONS, AgentFile, read_agent_file
from schedlab.scheduler.policy import Policy

MARK = "@agent:"

_MARK = re.compile(r"@\s*agent\s*:", re.IGNORECASE)

_TEXT = re.compile(
    r"""@\s*agent\s*:\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^"'+@,:#\s]+))\s*(?:\#(?P<digest>\w+))?""",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class AgentPolicy(Policy):
    """A trained agent; two agents are equal if they compute the same values.

    Parameters
    ----------
    path
        The file, as given.
    agent
        Its content.
    """

    name: ClassVar[str] = "agent"
    path: str
    agent: AgentFile

    @property
    def text(self) -> str:
        """The file and the digest of the agent's computation."""
        plain = re.fullmatch(r"""[^"'+@,:#\s]+""", self.path)
        written = self.path if plain else f'"{self.path}"'
        return f"{MARK}{written}#{self.agent.digest}"

    @property
    def program(self) -> None:
        """None: an agent has no formula."""
        return None

    @property
    def changes_with_time(self) -> bool:
        """True: it decides at every event."""
        return True

    @property
    def uses_request(self) -> bool:
        """False: it sees the run times that the order assumes, which are the requests unless specified otherwise."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AgentPolicy) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def agent_at(text: str) -> re.Match[str] | None:
    """Return the match of an agent in a scheduler text, or None if the text does not begin with one.

    Raises
    ------
    InputError
        If the text names no file.
    """
    match = _TEXT.match(text.lstrip())
    if match is None and _MARK.match(text.lstrip()):
        raise InputError(f"{text.strip()!r}: no agent is named: write for example @agent:lublin.json")
    return match


def agent_from_text(text: str) -> AgentPolicy:
    """Return the agent of a text such as "@agent:lublin.json".

    Raises
    ------
    InputError
        If the text names no file, the file is not an agent, or its digest differs.
    """
    match = agent_at(text)
    path = match and (match["double"] or match["single"] or match["bare"])
    if match is None or not path:
        raise InputError(f"{text.strip()!r}: no agent is named: write for example @agent:lublin.json")
    policy = AgentPolicy(path, read_agent_file(path))
    if policy.agent.decision != DECISIONS[0]:
        raise InputError(
            f"{path}: this agent commits to jobs as in SC'20, which a scheduler does not: train another agent"
        )
    if match["digest"] and match["digest"] != policy.agent.digest:
        raise InputError(
            f"{path} has changed: it now holds the agent {policy.agent.digest}, not {match['digest']}: remove "
            f"#{match['digest']} to accept it"
        )
    return policy


def with_whole_path(text: str) -> str:
    """Return a scheduler text whose agent, if there is one, has an absolute path and a digest.

    Examples
    --------
    >>> with_whole_path("saf+easy")
    'saf+easy'
    """
    name, rest = split_name(text)
    match = agent_at(rest)
    if match is None:
        return text
    policy = agent_from_text(match[0])
    whole = AgentPolicy(str(Path(policy.path).absolute()), policy.agent)
    return ("" if name is None else f"{name}=") + whole.text + rest.lstrip()[match.end() :]
