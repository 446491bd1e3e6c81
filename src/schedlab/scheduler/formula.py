"""Formulas of ordering policies, as text: parsed against a whitelist, run by a small compiled stack machine.

A formula is arithmetic over these variables, in seconds or processors:

    p   run time that the scheduler assumes for the order (requested, actual or predicted), at least 1
    q   processors
    r   submit time, counted from the first submission of the workload
    w   waiting time so far; a formula that uses it is evaluated again at every scheduling pass
    R   requested time, whatever p is, at least 1

and these statistics of the distribution of run times that the predictor of the order expects:

    m, g                     its mean and geometric mean
    x10, x25, x50, x75, x90  quantiles
    h                        the expected weight of the job in a mean bounded slowdown: E[1/max(run time, 10)]
    G                        the reciprocal of Gittins' index with that weight: the least, over all times t, of
                             E[min(run time, t)] / E[1/max(run time, 10); run time <= t]

`schedlab.engine.parts.forecasts.groups` keeps distributions. With all others, the run time is one number, p: then m, g
and the quantiles are p.

Formulas are case sensitive: r is the submit time and R the request.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.kernels import bare_kernel
from schedlab.wording import shown

COLUMNS = ("p", "q", "r", "w", "R")
"""Variables that are whole numbers."""

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)

STATISTICS = ("m", "g", "h", "G", *(f"x{round(100 * level)}" for level in QUANTILES))
"""Variables that are statistics of a distribution of run times."""

VARIABLES = (*COLUMNS, *STATISTICS)

LEAST = 10
"""The bound, in seconds, of the bounded slowdown."""

LONGEST = 2_000
DEEPEST = 100
CHUNK = 1_024

_CONSTANT = 9
_STATISTIC = 30
_OPERATORS: dict[type[ast.AST], int] = {
    ast.Add: 10,
    ast.Sub: 11,
    ast.Mult: 12,
    ast.Div: 13,
    ast.Pow: 14,
    ast.USub: 20,
}
_FUNCTIONS = {
    "min": 15,
    "max": 16,
    "abs": 21,
    "log": 22,
    "ln": 22,
    "log2": 23,
    "log10": 24,
    "sqrt": 25,
    "exp": 26,
}


@explained
@dataclass(frozen=True, slots=True)
class Formula:
    """A parsed formula: the text and its program for the stack machine.

    Parameters
    ----------
    text
        Arithmetic with + - * / ** (or ^), numbers, the variables at the top of this module and the functions abs, exp,
        ln (or log), log2, log10, max, min, sqrt.

    Raises
    ------
    InputError
        If the text is not such a formula; the message names what is not allowed and what is.

    Examples
    --------
    >>> saf = Formula("p * q")
    >>> saf.scores(p=[60, 10], q=[2, 4], r=[0, 5]).tolist()
    [120.0, 40.0]
    >>> Formula("(w / p) ** 3").uses_waiting_time
    True
    """

    text: str
    codes: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    constants: NDArray[np.float64] = field(init=False, repr=False, compare=False)
    depth: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        codes, constants, depth = _compile(self.text)
        object.__setattr__(self, "codes", np.array(codes, dtype=np.int64))
        object.__setattr__(self, "constants", np.array(constants, dtype=np.float64))
        object.__setattr__(self, "depth", depth)

    @property
    def uses_waiting_time(self) -> bool:
        """Whether the score of a waiting job changes with time."""
        return bool(np.any(self.codes == COLUMNS.index("w")))

    @property
    def uses_run_time(self) -> bool:
        """Whether the score depends on the assumed run time."""
        return self.uses_statistics or bool(np.any(self.codes == COLUMNS.index("p")))

    @property
    def uses_statistics(self) -> bool:
        """Whether the score depends on the distribution of the assumed run time."""
        return bool(np.any(self.codes >= _STATISTIC))

    @property
    def uses_request(self) -> bool:
        """Whether the score depends on the requested time itself, regardless of the assumed run time."""
        return bool(np.any(self.codes == COLUMNS.index("R")))

    def scores(
        self,
        p: NDArray[np.int64] | list[int],
        q: NDArray[np.int64] | list[int],
        r: NDArray[np.int64] | list[int],
        w: NDArray[np.int64] | list[int] | None = None,
        R: NDArray[np.int64] | list[int] | None = None,
        statistics: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return the score of each job.

        Parameters
        ----------
        p, q, r, w, R
            Arrays of one length, as described at the top of this module. Without `w`, no job has waited; without `R`,
            the request is the assumed run time.
        statistics
            A row for each of `STATISTICS`; without them, p is the run time.
        """
        a, b, c, d, e = (
            np.ascontiguousarray(column, dtype=np.int64)
            for column in (p, q, r, np.zeros(len(p), dtype=np.int64) if w is None else w, p if R is None else R)
        )
        result = np.empty(len(a), dtype=np.float64)
        stack = np.empty((self.depth, CHUNK), dtype=np.float64)
        known = statistics
        if known is None:
            known = statistics_of_number(a) if self.uses_statistics else np.empty((0, len(a)))
        for low in range(0, len(result), CHUNK):
            part = slice(low, low + CHUNK)
            columns = (a[part], b[part], c[part], d[part], e[part])
            evaluate(self.codes, self.constants, *columns, stack, result[part], known[:, part])
        return result


def statistics_of_number(p: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a row for each of `STATISTICS`, for known run times p.

    Examples
    --------
    >>> dict(zip(STATISTICS, statistics_of_number(np.array([20]))[:, 0].tolist(), strict=True))
    {'m': 20.0, 'g': 20.0, 'h': 0.05, 'G': 400.0, 'x10': 20.0, 'x25': 20.0, 'x50': 20.0, 'x75': 20.0, 'x90': 20.0}
    """
    seconds = p.astype(np.float64)
    bounded = np.maximum(seconds, LEAST)
    return np.stack([seconds, seconds, 1 / bounded, seconds * bounded, *(seconds for _ in QUANTILES)])


@bare_kernel
def evaluate(  # noqa: PLR0915
    codes: NDArray[np.int64],
    constants: NDArray[np.float64],
    p: NDArray[np.int64],
    q: NDArray[np.int64],
    r: NDArray[np.int64],
    w: NDArray[np.int64],
    request: NDArray[np.int64],
    stack: NDArray[np.float64],
    result: NDArray[np.float64],
    statistics: NDArray[np.float64] | None,
) -> None:
    """Run the program of a formula on some jobs.

    Parameters
    ----------
    codes
        The program: 0-4 push a variable, 9 pushes the next constant, 10-16 take two values, 20-26 one, from 30 on push
        a statistic.
    constants
        Numbers in the order of their use.
    p, q, r, w, request
        Arrays of shape (n,), n at most the width of `stack`.
    stack
        Scratch space of shape (depth, width).
    result
        Filled with the n scores.
    statistics
        A row for each of `STATISTICS`; None or empty if the program uses none.
    """
    n = result.shape[0]
    top = -1
    constant = 0
    for code in codes:
        if code < 10 or code >= _STATISTIC:
            top += 1
            above = stack[top]
            if code == 9:
                above[:n] = constants[constant]
                constant += 1
            elif code >= _STATISTIC:
                if statistics is not None:
                    for i in range(n):
                        above[i] = statistics[code - _STATISTIC, i]
            else:
                source = p if code == 0 else q if code == 1 else r if code == 2 else w if code == 3 else request
                for i in range(n):
                    above[i] = source[i]
        elif code < 20:
            top -= 1
            a = stack[top]
            b = stack[top + 1]
            for i in range(n):
                if code == 10:
                    a[i] = a[i] + b[i]
                elif code == 11:
                    a[i] = a[i] - b[i]
                elif code == 12:
                    a[i] = a[i] * b[i]
                elif code == 13:
                    a[i] = a[i] / b[i]
                elif code == 14:
                    a[i] = a[i] ** b[i]
                elif code == 15:
                    a[i] = min(a[i], b[i])
                else:
                    a[i] = max(a[i], b[i])
        else:
            a = stack[top]
            for i in range(n):
                if code == 20:
                    a[i] = -a[i]
                elif code == 21:
                    a[i] = abs(a[i])
                elif code == 22:
                    a[i] = np.log(a[i])
                elif code == 23:
                    a[i] = np.log2(a[i])
                elif code == 24:
                    a[i] = np.log10(a[i])
                elif code == 25:
                    a[i] = np.sqrt(a[i])
                else:
                    a[i] = np.exp(a[i])
    for i in range(n):
        result[i] = stack[0, i]


def _compile(text: str) -> tuple[list[int], list[float], int]:
    """Translate the text to postfix; return the codes, the constants and the depth of the stack."""
    if len(text) > LONGEST:
        raise InputError(f"the formula is {len(text)} characters long; at most {LONGEST} are allowed")
    codes: list[int] = []
    constants: list[float] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns about unusual code; the whitelist decides
            tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
        depth = _emit(tree, text, codes, constants, 1)
    except SyntaxError as error:
        where = f" at character {error.offset}" if error.offset else ""
        raise InputError(f"formula {_short(text)}: syntax error{where}") from None
    except UnicodeEncodeError:
        raise InputError(f"formula {shown(text)} is not text in UTF-8") from None
    except (RecursionError, MemoryError):
        raise InputError(f"formula {_short(text)} is nested too deeply") from None
    return codes, constants, depth


def _emit(node: ast.AST, text: str, codes: list[int], constants: list[float], height: int) -> int:
    """Append the code of one node, whose value is put at `height` on the stack; return the greatest height."""
    if height > DEEPEST:
        raise InputError(f"formula {_short(text)} is nested more than {DEEPEST} levels deep")
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            constants.append(_finite(value, text))
            codes.append(_CONSTANT)
            return height
        case ast.Name(id=name) if name in VARIABLES:
            codes.append(COLUMNS.index(name) if name in COLUMNS else _STATISTIC + STATISTICS.index(name))
            return height
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _emit(operand, text, codes, constants, height)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            highest = _emit(operand, text, codes, constants, height)
            codes.append(_OPERATORS[ast.USub])
            return highest
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            highest = max(_emit(left, text, codes, constants, height), _emit(right, text, codes, constants, height + 1))
            codes.append(_OPERATORS[type(operator)])
            return highest
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _emit_call(name, arguments, text, codes, constants, height)
    raise InputError(
        f"formula {_short(text)}: {_short(ast.unparse(node))} is not allowed; use numbers, the variables "
        f"{' '.join(VARIABLES)}, + - * / ** and the functions {' '.join(sorted(_FUNCTIONS))}"
    )


def _emit_call(
    name: str, arguments: list[ast.expr], text: str, codes: list[int], constants: list[float], height: int
) -> int:
    """Append the code of a function call; min and max take two or more arguments, the others one."""
    code = _FUNCTIONS[name]
    binary = code < 20
    if len(arguments) < 1 + binary or (not binary and len(arguments) > 1):
        raise InputError(
            f"formula {_short(text)}: {name} takes {'two or more arguments' if binary else 'one argument'}"
        )
    highest = _emit(arguments[0], text, codes, constants, height)
    for argument in arguments[1:]:
        highest = max(highest, _emit(argument, text, codes, constants, height + 1))
        codes.append(code)
    if not binary:
        codes.append(code)
    return highest


def _finite(value: float, text: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not np.isfinite(number):
        raise InputError(f"formula {_short(text)} contains a number that is too large")
    return number


def _short(source: str) -> str:
    """Return a source text for a message: quoted, and shortened if it is long."""
    return repr(source if len(source) <= 60 else source[:57] + "...")
