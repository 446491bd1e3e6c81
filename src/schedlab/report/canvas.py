"""Figures that notebooks show without pyplot, in characters that their font has."""

from __future__ import annotations

import io
import re
import unicodedata
from functools import cache
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.text import Text

DPI = 100
"""Resolution in notebooks."""


class NotebookFigure(Figure):
    """A figure that is the output of its cell, and whose axes are: Jupyter shows only figures of pyplot on its own."""

    def add_subplot(self, *args: Any, **kwargs: Any) -> Any:
        """Add axes as `Figure.add_subplot` does, which notebooks show as their whole figure."""
        if kwargs.get("projection") is None:
            kwargs.setdefault("axes_class", NotebookAxes)
        return super().add_subplot(*args, **kwargs)

    def _repr_png_(self) -> bytes:
        only_drawable(self)
        page = io.BytesIO()
        self.savefig(page, format="png", dpi=DPI)
        return page.getvalue()


class NotebookAxes(Axes):
    """Axes that a notebook shows as the figure they belong to."""

    def _repr_png_(self) -> bytes | None:
        figure = self.get_figure(root=True)
        return figure._repr_png_() if isinstance(figure, NotebookFigure) else None


def drawable(text: str) -> str:
    """Return a text as the font of figures can draw it: "…" for words from right to left, and for characters it lacks.

    Examples
    --------
    >>> drawable("queue of عمر 🦊fox")
    'queue of … …fox'
    """
    characters = _characters()
    words = []
    for word in text.split(" "):
        leftward = any(unicodedata.bidirectional(character) in ("R", "AL") for character in word)
        known = "".join(character if ord(character) in characters or character == "\n" else "…" for character in word)
        words.append("…" if leftward else re.sub("…+", "…", known))
    return " ".join(words)


@cache
def _characters() -> frozenset[int]:
    """Return what the font of figures can draw, as code points."""
    return frozenset(get_font(findfont(FontProperties())).get_charmap())


def only_drawable(figure: Figure) -> None:
    """Leave out of the texts of a figure what its font cannot draw."""
    for text in figure.findobj(Text):
        if not text.get_text().isascii():
            text.set_text(drawable(text.get_text()))
