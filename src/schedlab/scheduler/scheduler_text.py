"""Scheduler texts: split into the parts of the grammar, which are parsed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from schedlab.errors import InputError
from schedlab.scheduler.agent import agent_at, agent_from_text
from schedlab.scheduler.backfilling import Backfill, Conservative, Easy, NoBackfill, Slurm
from schedlab.scheduler.compatible import NONE, clash
from schedlab.scheduler.function_policy import FunctionPolicy, function_from_text, is_policy, names_a_function
from schedlab.scheduler.grammar import ALIASES, BACKFILLING, OPTIONS
from schedlab.scheduler.malleable_pass import NAME as MALLEABLE
from schedlab.scheduler.malleable_pass import malleable_pass
from schedlab.scheduler.own_objects import has_arguments, module_of, names_an_object, names_what_has
from schedlab.scheduler.own_pass import OwnPass, Pass, is_pass, pass_from_text
from schedlab.scheduler.policy import ALIASES as POLICY_ALIASES
from schedlab.scheduler.policy import FCFS, POLICIES, Policy
from schedlab.scheduler.policy_file import with_formulas
from schedlab.scheduler.policy_text import policy_from_text
from schedlab.scheduler.predictor_text import predictor_from_text
from schedlab.scheduler.retries import Retries
from schedlab.wording import did_you_mean

_BACKFILL = r"(?P<name>{name})\s*(?P<arguments>\([^()]*\))?\s*(?P<order>:.*)?"
_KNOWN, _ANY = _BACKFILL.format(name="|".join(BACKFILLING)), _BACKFILL.format(name="[A-Za-z]+")
_KNOWN_BACKFILL, _ANY_BACKFILL = (re.compile(known, re.DOTALL | re.IGNORECASE) for known in (_KNOWN, _ANY))
_KNOWN_AT_THE_END, _ANY_AT_THE_END = (
    re.compile(rf"(?P<policy>.*)\+\s*(?P<backfill>{known})", re.DOTALL | re.IGNORECASE) for known in (_KNOWN, _ANY)
)


def parts_of(text: str) -> dict[str, Any]:
    """Return the arguments of `Scheduler` that a text denotes.

    Raises
    ------
    InputError
        If some part is unknown; the message names it and lists what is known.
    """
    if agent := agent_at(text):
        return parts_of(f"fcfs{text.lstrip()[agent.end() :]}") | {"policy": agent_from_text(agent[0])}
    if re.search(r":\s*@\s*agent\s*:", text):
        raise InputError(
            f"scheduler {text!r}: an agent is a whole scheduler and cannot order candidates: write @agent:FILE alone"
        )
    text = with_formulas(text)
    whole, comma, rest = text.partition(",")
    _check_name_is_alone(whole)
    text = ALIASES.get(whole.strip().lower(), whole) + comma + rest
    front, runtimes, options = _split(text)
    parts: dict[str, Any] = {}
    if runtimes and len(pieces := _cut(runtimes[0], "+", text)) > 1:
        ranking, backfill = pieces[0].strip(), "".join(pieces[1:]).removeprefix("+")
        parts["policy"] = _policy_before(front, text)
        parts["order_runtimes"] = _uncorrected(ranking, text)
        parts["backfill"] = _backfill(backfill, text)
        del runtimes[0]
    else:
        parts["policy"], parts["backfill"] = _front(front, text)
    if len(runtimes) > 1:
        raise InputError(f"scheduler {text!r}: '@{runtimes[1]}' must come before the options, and only once")
    if runtimes:
        assumed, slash, correction = runtimes[0].rpartition("/") if "/" in runtimes[0] else (runtimes[0], "", "")
        parts["runtimes"] = predictor_from_text(assumed)
        parts["correction"] = correction.strip().lower() if slash else None
    return _with_options(parts, options, text)


def _check_name_is_alone(whole: str) -> None:
    """Refuse the name of a whole scheduler with an order, backfilling or run times behind it."""
    name = re.match(r"[\w-]+(\+\+)?", whole.strip())
    if name and name[0].lower() in ALIASES and whole.strip() != name[0]:
        meant = ALIASES[name[0].lower()]
        raise InputError(f"scheduler {whole!r}: {name[0]} is a whole scheduler ({meant}): write it alone, or that text")


def as_policy(given: object) -> Policy:
    """Return a policy unchanged, or the one that a text names, that a class makes, or that is a Python function.

    Raises
    ------
    InputError
        If it is none of these.
    """
    given = _made(given, Policy)
    if isinstance(given, Policy):
        return given
    if is_policy(given) or hasattr(given, "score"):
        return FunctionPolicy(given)
    if not isinstance(given, str) or _names_a_backfill(given):
        raise InputError(f"{given!r} is not a policy; Scheduler.parse reads the text of a whole scheduler")
    return policy_from_text(given)


def as_backfill(given: object) -> Backfill:
    """Return a backfilling unchanged, or the one that a class makes or a text names: "easy:sjf", "slurm(depth=50)".

    What can be asked as a `Pass` becomes one.

    Raises
    ------
    InputError
        If it is none of these.
    """
    given = _made(_made(given, Backfill), Pass)
    if isinstance(given, Backfill):
        return given
    if is_pass(given):
        return OwnPass(given)
    if given == "none":
        return NoBackfill()
    if not isinstance(given, str):
        raise InputError(f"unknown backfilling {given!r}; known are {' '.join(BACKFILLING)}")
    return _backfill(given, given)


def _made(given: object, kind: Any) -> object:
    """Return what a class of some kind makes without arguments, and everything else unchanged."""
    if not (isinstance(given, type) and issubclass(given, kind)):
        return given
    try:
        return given()
    except TypeError:
        raise InputError(f"{given.__name__} needs arguments: give {given.__name__}(...)") from None


def _split(text: str) -> tuple[str, list[str], list[str]]:
    """Split a text into the part before the first "@", the parts after each, and the options."""
    front, *rest = _cut(text, "@,", text)
    runtimes: list[str] = []
    while rest and rest[0].startswith("@"):
        runtimes.append(rest.pop(0)[1:].strip())
    for piece in rest:
        if piece.startswith("@"):
            raise InputError(f"scheduler {text!r}: {piece!r} must come before the options, and only once")
    return front.strip(), runtimes, [piece[1:].strip() for piece in rest]


def _cut(text: str, marks: str, whole: str) -> list[str]:
    """Split a text before each of some characters, except in brackets and quotes."""
    pieces = [""]
    depth = 0
    quote = ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth += (character == "(") - (character == ")")
        if character in marks and not quote and depth <= 0:
            pieces.append(character)
        else:
            pieces[-1] += character
    if quote:
        raise InputError(f"scheduler {whole!r}: a quotation mark is not closed")
    if depth > 0:
        raise InputError(f"scheduler {whole!r}: a bracket is not closed")
    return pieces


def _front(front: str, text: str) -> tuple[Policy, Backfill]:
    """Read POLICY[+BACKFILL[:ORDER]]; a formula may contain "+", so backfilling is searched from the end."""
    if not front or front.startswith("+"):
        raise InputError(f"scheduler {text!r}: no policy is named: write for example fcfs+easy or saf+easy")
    if _KNOWN_BACKFILL.fullmatch(front):
        return FCFS(), _backfill(front, text)
    if names_a_function(front):
        return _alone(front)
    if own := _own_at_the_end(front):
        return policy_from_text(own[0]), pass_from_text(own[1])
    match = _KNOWN_AT_THE_END.fullmatch(front) or _ANY_AT_THE_END.fullmatch(front)
    if match is None or (front[-1] in "\"'" and match["order"] is None):
        policy, *order = _cut(front, ":", text)
        if order:
            raise _refused(text, {NONE: NONE, ":ORDER": f":{policy_from_text(order[0][1:]).text}"})
        return policy_from_text(policy), NoBackfill()
    # The last term of a formula, as in p + q or p + sqrt(q).
    term = (len(match["name"]) == 1 or match["arguments"]) and match["order"] is None
    if match["name"].lower() not in BACKFILLING and term and match["policy"].strip().lower() not in POLICIES:
        return policy_from_text(front), NoBackfill()
    backfill = _backfill(match["backfill"], text)
    return policy_from_text(match["policy"]), backfill


def _alone(front: str) -> tuple[Policy, Backfill]:
    """Read MODULE:NAME or MODULE:NAME(...) alone: a policy, or with arguments and a method `decide`, a pass."""
    if has_arguments(front) and names_what_has("decide", front):
        return FCFS(), pass_from_text(front)
    return function_from_text(front), NoBackfill()


def _own_at_the_end(front: str) -> tuple[str, str] | None:
    """Return the policy and the pass of POLICY+MODULE:NAME(...), or None."""
    *policy, last = _cut(front, "+", front)
    if not policy or not names_an_object(last[1:]) or module_of(last[1:]) in BACKFILLING:
        return None
    return "".join(policy), last[1:]


def _names_a_backfill(front: str) -> bool:
    """Return whether more than a policy is named, also if the backfilling is the user's own or nobody's."""
    front = front.strip()
    if _KNOWN_AT_THE_END.fullmatch(front) or _own_at_the_end(front):
        return True
    found = _ANY_AT_THE_END.fullmatch(front)
    return found is not None and found["policy"].strip().lower() in POLICIES


def _policy_before(front: str, text: str) -> Policy:
    """Read the POLICY before its own run times."""
    if not front:
        raise InputError(f"scheduler {text!r}: no policy is named: write for example fcfs+easy or saf+easy")
    if _names_a_backfill(front):
        raise InputError(
            f"scheduler {text!r}: two backfillings are named: write for example saf@similar+easy@requested"
        )
    return policy_from_text(front)


def _uncorrected(runtimes: str, text: str) -> Any:
    """Read the run times of the order, which are never corrected."""
    if "/" in runtimes:
        _, _, correction = runtimes.rpartition("/")
        raise InputError(
            f"scheduler {text!r}: run times of the order are never corrected: write /{correction.strip()} after those "
            "used for reservations, or remove it"
        )
    return predictor_from_text(runtimes)


def _backfill(text: str, whole: str) -> Backfill:
    """Read BACKFILL[(...)][:ORDER], or MODULE:NAME[(...)]."""
    if names_an_object(text) and module_of(text) not in BACKFILLING:
        return pass_from_text(text)
    match = _ANY_BACKFILL.fullmatch(text.strip())
    name = match["name"].lower() if match else text.strip()
    if match is None or name not in BACKFILLING:
        near = did_you_mean(name, BACKFILLING)
        if (one := POLICY_ALIASES.get(name, name)) in POLICIES:
            near = (
                f"; {one} is a policy, which stands first: {one}+easy, or fcfs+easy:{one} for the order of backfilling"
            )
        raise InputError(f"scheduler {whole!r}: unknown backfilling {name!r}; known are {' '.join(BACKFILLING)}{near}")
    kind = BACKFILLING[name].kind
    if match["arguments"] and kind is not Slurm:
        raise InputError(f"scheduler {whole!r}: {name} backfilling takes no arguments; slurm does")
    order = policy_from_text(match["order"][1:]) if match["order"] is not None else None
    if kind is Easy:
        return Easy(order)
    backfill: Backfill = Conservative()
    if kind is Slurm:
        backfill = Slurm.parse(name + (match["arguments"] or ""))
    elif name == MALLEABLE:
        backfill = malleable_pass()
    if order is not None:
        raise _refused(whole, {f"+{name}": f"+{backfill.text}", ":ORDER": f":{order.text}"})
    return backfill


def _with_options(parts: dict[str, Any], options: list[str], text: str) -> dict[str, Any]:
    """Add the options to their parts."""
    given: dict[str, Any] = {}
    for written in options:
        name, equals, value = (part.strip() for part in written.partition("="))
        if name not in OPTIONS or not equals:
            known = " ".join(f"{one}=" for one in OPTIONS)
            several = "; give several schedulers one by one" if name in (*POLICIES, *BACKFILLING) else ""
            raise InputError(f"unknown option {written!r}; known are {known}{did_you_mean(name, OPTIONS)}{several}")
        if name in given:
            raise InputError(f"scheduler {text!r}: {name}= is given twice")
        given[name] = OPTIONS[name].read(value)
    retries = {}
    for name, value in given.items():
        option = OPTIONS[name]
        if option.part == "retries" and value != option.usual:
            retries[option.attribute] = value
        elif option.part == "backfill":
            parts["backfill"] = _with_backfill_option(parts["backfill"], name, value, text)
        elif not option.part:
            parts[option.attribute] = value
    if retries:
        parts["retries"] = Retries(**retries)
    return parts


def _with_backfill_option(backfill: Backfill, name: str, value: Any, text: str) -> Backfill:
    """Return backfilling with an option, which may be one of another kind of backfilling."""
    option = OPTIONS[name]
    if hasattr(backfill, option.attribute):
        return replace(backfill, **{option.attribute: value})
    kind = NONE if isinstance(backfill, NoBackfill) else f"+{backfill.name}"
    feature, written = f"{name}={option.value}", f"{name}={option.write(value)}"
    raise _refused(text, {kind: kind if kind == NONE else f"+{backfill.text}", feature: written})


def _refused(text: str, features: dict[str, str]) -> InputError:
    """Return the error for a text whose features are incompatible, so that no object can represent them."""
    return InputError(f"scheduler {text!r}: {clash(features)}")
