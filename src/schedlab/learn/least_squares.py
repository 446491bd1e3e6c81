"""Weighted linear least squares, exact, and its error on tuples that were left out of the fit.

All rows are reduced to one small triangle per fold by orthogonal transformations (QR). The fit of all rows, and those
of all folds but one, are then made from the triangles: cross-validation costs hardly more than the fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from schedlab.learn.scores import ScoreTable

Real = NDArray[np.float64]


class DegenerateFitError(ValueError):
    """A fit that has no answer; the message says why."""


@dataclass(frozen=True)
class Solution:
    """What a fit found.

    Parameters
    ----------
    coefficients
        One per column of the basis.
    objective
        The weighted sum of squares that was minimised.
    mae
        Mean absolute error, unweighted, of all rows.
    cross_validated_mae
        The same, each row being predicted by the fit that did not see its tuple; NaN if there is only one tuple.
    """

    coefficients: Real
    objective: float
    mae: float
    cross_validated_mae: float


class Problem:
    """Scores to be fitted, their weights, and how their tuples are divided into folds.

    Parameters
    ----------
    scores
        The scores.
    weighted
        Whether a residual counts as much as its job is large: run time times processors, before it is squared.
    folds
        How many parts the tuples are divided into, at most; each tuple is in one of them as a whole.
    rng
        Draws the folds; without it, tuples are dealt out in their order.
    """

    def __init__(self, scores: ScoreTable, *, weighted: bool, folds: int, rng: np.random.Generator | None) -> None:
        self.p, self.q, self.r = (
            column.astype(np.float64) for column in (scores.run_time, scores.processors, scores.submit_time)
        )
        self.target = scores.score
        self.weight = self.p * self.q if weighted else np.ones(len(scores))
        groups, group = np.unique(scores.group, return_inverse=True)
        self.folds = min(folds, len(groups))
        dealt = np.arange(len(groups)) if rng is None else rng.permutation(len(groups))
        self.fold = dealt[group] % self.folds
        # The rows of each fold, filled up with a row of zeros behind the last: QR of all folds in one call.
        members = [np.flatnonzero(self.fold == fold) for fold in range(self.folds)]
        self._rows = np.full((self.folds, max(map(len, members))), len(scores))
        for row, member in zip(self._rows, members, strict=True):
            row[: len(member)] = member

    def held_out(self) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """Give, for each fold, which rows are to be fitted and which to be predicted."""
        for fold in range(self.folds):
            yield self.fold != fold, self.fold == fold

    def solve(self, basis: Real) -> Solution:
        """Fit the scores with a sum of the columns of a basis.

        Parameters
        ----------
        basis
            Array of shape (rows, columns).

        Raises
        ------
        DegenerateFitError
            If a column is not finite, or if the columns cannot be told apart on these rows.
        """
        if not np.isfinite(basis).all():
            raise DegenerateFitError("a term is not finite for some job")
        scale, triangles = self._triangles(basis)
        width = basis.shape[1]
        if len(self.target) <= width:
            raise DegenerateFitError(f"only {len(self.target)} scores for {width} coefficients")
        whole = _triangle(triangles.reshape(-1, width + 1))
        if len(whole) < width or np.linalg.matrix_rank(whole[:width, :width], rtol=self._tolerance) < width:
            raise DegenerateFitError("its terms are collinear on these jobs")
        coefficients = np.linalg.solve(whole[:width, :width], whole[:width, width]) / scale
        residual = self.target - basis @ coefficients
        validated = np.nan
        if self.folds > 1:
            others = _without_one(triangles, width)
            parts = (
                np.linalg.pinv(others[:, :width, :width], rcond=self._tolerance) @ others[:, :width, width:]
            ) / scale[:, None]
            predicted = np.einsum("ij,ij->i", basis, parts[self.fold, :, 0])
            validated = float(np.abs(self.target - predicted).mean())
        objective = float(np.sum((self.weight * residual) ** 2))
        return Solution(coefficients, objective, float(np.abs(residual).mean()), validated)

    @property
    def _tolerance(self) -> float:
        return float(np.finfo(np.float64).eps) * len(self.target)

    def _triangles(self, basis: Real) -> tuple[Real, Real]:
        """Return the size of each column and, for each fold, a triangle that stands for its rows."""
        rows = np.zeros((len(basis) + 1, basis.shape[1] + 1))
        np.multiply(basis, self.weight[:, None], out=rows[:-1, :-1])
        np.multiply(self.target, self.weight, out=rows[:-1, -1])
        scale = np.linalg.norm(rows[:, :-1], axis=0)
        if not np.isfinite(scale).all():
            raise DegenerateFitError("a term is too large for some job")
        if not scale.all():
            raise DegenerateFitError("a term is 0 for every job")
        rows[:, :-1] /= scale
        return scale, _triangle(rows[self._rows])


def _triangle(rows: Real) -> Real:
    """Return the triangle R of the last two axes, R'R being the product of the rows with themselves."""
    return cast(Real, np.linalg.qr(rows, mode="r"))


def _without_one(triangles: Real, width: int) -> Real:
    """Return, for each fold, the triangle of all other folds."""
    folds = len(triangles)
    others = np.array([[other for other in range(folds) if other != fold] for fold in range(folds)])
    stacked = triangles[others].reshape(folds, -1, width + 1)
    short = width + 1 - stacked.shape[1]
    if short > 0:
        stacked = np.pad(stacked, ((0, 0), (0, short), (0, 0)))
    return _triangle(stacked)
