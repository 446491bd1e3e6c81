"""A cluster as a drawing: a box for each node, by switch and kind, as wide as it has cores, with its GPUs."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from pathlib import Path

from schedlab.atomic import atomic_path
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.cluster.tables import kinds_of_nodes, memory_text
from schedlab.errors import InputError
from schedlab.wording import count_of

WIDTH = 960
HEIGHT = 14
"""Of the boxes of nodes, in pixels."""

GAP = 3
NARROWEST, WIDEST = 12, 120
COLOURS = ("#4e79a7", "#59a14f", "#9c755f", "#76b7b2", "#b07aa1", "#bab0ac")
GPU_COLOUR = "#f28e2b"
MOST_NODES = 20_000


def cluster_svg(cluster: Cluster) -> str:
    """Return a drawing of the nodes as SVG.

    Raises
    ------
    InputError
        If there are no nodes, or more than can be drawn.

    Examples
    --------
    >>> site = Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=64, gpus={"a100": 2})])
    >>> cluster_svg(site).count("<rect")
    13
    """
    if not cluster.groups:
        raise InputError(f"{cluster.name} has no nodes to draw, only a number of processors")
    if len(cluster.nodes) > MOST_NODES:
        raise InputError(f"{cluster.name} has {len(cluster.nodes):,} nodes; at most {MOST_NODES:,} are drawn")
    kinds = sorted(kinds_of_nodes(cluster), key=lambda kind: kind.switch)
    most = max(kind.cores for kind in kinds)
    parts, top = [_text(cluster.summary(), 22, 15)], 34
    for number, kind in enumerate(kinds):
        parts.append(_text(_caption(kind), top + 12, 12))
        drawn, top = _boxes(kind, top + 18, max(NARROWEST, WIDEST * kind.cores // most), COLOURS[number % len(COLOURS)])
        parts += drawn
    size = f'width="{WIDTH}" height="{top + 8}" viewBox="0 0 {WIDTH} {top + 8}"'
    back = f'<rect width="{WIDTH}" height="{top + 8}" fill="white"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">{back}\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def save_drawing(cluster: Cluster, path: str | os.PathLike[str]) -> None:
    """Write a drawing of the nodes as SVG; errors as for `cluster_svg`."""
    drawing = cluster_svg(cluster)
    with atomic_path(path) as temporary:
        Path(temporary).write_text(drawing, encoding="utf-8")


def _caption(kind: NodeGroup) -> str:
    words = [f"{count_of(len(kind.names), 'node')} of {count_of(kind.cores, 'core')}"]
    if kind.memory is not None:
        words.append(memory_text(kind.memory))
    words += (f"{count} {gpu or 'GPU'}" for gpu, count in kind.gpus)
    if kind.features:
        words.append(",".join(sorted(kind.features)))
    where = f"{kind.switch}: " if kind.switch else ""
    hosts = kind.hosts if len(kind.hosts) <= 40 else f"{kind.hosts[:37]}..."
    return f"{where}{hosts}: {', '.join(words)}"


def _boxes(kind: NodeGroup, top: int, width: int, colour: str) -> tuple[list[str], int]:
    """Return the boxes of alike nodes, and where they end."""
    each = max(width, 6 * kind.gpu_count + 2)
    columns = max((WIDTH - 20 + GAP) // (each + GAP), 1)
    drawn = []
    for place, name in enumerate(kind.names):
        x, y = 10 + place % columns * (each + GAP), top + place // columns * (HEIGHT + GAP)
        gpus = "".join(_gpus(kind, x, y))
        drawn.append(
            f'<g><title>{html.escape(name)}</title><rect x="{x}" y="{y}" width="{each}" height="{HEIGHT}" rx="2" '
            f'fill="{colour}"/>{gpus}</g>'
        )
    rows = -(-len(kind.names) // columns)
    return drawn, top + rows * (HEIGHT + GAP) + 8


def _gpus(kind: NodeGroup, x: int, y: int) -> Iterator[str]:
    for place in range(kind.gpu_count):
        yield f'<rect x="{x + 2 + 6 * place}" y="{y + HEIGHT - 7}" width="5" height="5" fill="{GPU_COLOUR}"/>'


def _text(text: str, y: int, size: int) -> str:
    return f'<text x="10" y="{y}" font-size="{size}">{html.escape(text)}</text>'
