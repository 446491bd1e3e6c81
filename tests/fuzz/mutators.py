"""How sound inputs are harmed: bytes, texts, documents of JSON, tables of Parquet, each with the harm that is usual."""

from __future__ import annotations

import copy
import gzip
import hashlib
import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

NUMBERS = ["0", "-1", "1", "-0", "0.5", "1e308", "1e400", "-1e400", "nan", "NaN", "inf", "-Infinity", "Infinity"]
NUMBERS += ["2147483648", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809"]
NUMBERS += ["18446744073709551616", "1" * 400, "9" * 5_000, "1." + "3" * 5_000, "1e-5000", "0x10", "1_000", "٣", ""]

TEXTS = ["", " ", "\n", "\0", "a" * 300, "a" * 20_000, "ü" * 50, "../../x", "/dev/zero", "nan", "-", ",", ";", '"', "'"]
TEXTS += ["\u202e", "\x1b[2J", "os:system", "numpy.testing:Tester", "fcfs+easy@readme:X", "p*q" * 3_000, "(" * 5_000]
TEXTS += ["saf+easy", "lublin", "@a.json", "{}", "%s%n", "1-00:00:00", "9" * 30 + "d", "2026-13-45T99:99:99"]

DEPTHS = [70, 1_000, 100_000]


def harm_bytes(content: bytes, rng: random.Random) -> bytes:
    """Return content with some of its bytes changed, lost, doubled or added."""
    place, other = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    before, after = content[:place], content[place:]
    opened = rng.choice([b"[", b"{", b"(", b'{"a":', b"<a>"])
    harms: list[Callable[[], bytes]] = [
        lambda: _flipped(content, rng),
        lambda: before,
        lambda: before + content[other:],
        lambda: content[:other] + after,
        lambda: before + rng.randbytes(rng.randint(1, 200)) + after,
        lambda: before + b"\0" * rng.choice([1, 1_000, 1 << 20]) + after,
        lambda: rng.choice([b"", b"\n", b"\xef\xbb\xbf" + content, content.replace(b"\n", b"\r\n"), content[::-1]]),
        lambda: content * rng.choice([2, 50]),
        lambda: before + opened * rng.choice(DEPTHS) + after,
    ]
    return rng.choice(harms)()


def _flipped(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content or b"x")
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def harm_text(content: bytes, rng: random.Random) -> bytes:
    """Return a text with other numbers, words or lines, or with harmed bytes."""
    if rng.random() < 0.3:
        return harm_bytes(content, rng)
    text = content.decode("utf-8", errors="replace")
    for _ in range(rng.randint(1, 3)):
        kind = rng.randrange(4)
        if kind == 0:
            text = _replaced(r"-?\d+(?:\.\d+)?", text, rng.choice(NUMBERS), rng)
        elif kind == 1:
            text = _replaced(r"[A-Za-z_][\w.]*", text, rng.choice(TEXTS), rng)
        else:
            lines = text.split("\n")
            first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
            if kind == 2:
                lines[first], lines[second] = lines[second], lines[first]
            else:
                lines[first] = rng.choice(["", lines[second] * 40, lines[first] + " 7", lines[first][: second + 1]])
            text = "\n".join(lines)
    return text.encode("utf-8", errors="surrogatepass")


def _replaced(pattern: str, text: str, by: str, rng: random.Random) -> str:
    found = list(re.finditer(pattern, text))
    if not found:
        return text + by
    match = rng.choice(found)
    return text[: match.start()] + by + text[match.end() :]


def harm_json(content: bytes, rng: random.Random) -> bytes:
    """Return a document of JSON with another value, key or depth somewhere, or with harmed bytes."""
    if rng.random() < 0.2:
        return harm_bytes(content, rng)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):  # it has been harmed before
        return harm_bytes(content, rng)
    for _ in range(rng.randint(1, 3)):
        document = harm_document(document, rng)
    if rng.random() < 0.1:
        depth = rng.choice(DEPTHS)
        mark = json.dumps("a mark")
        text = json.dumps(_with(document, "a mark", rng))
        return text.replace(
            mark, rng.choice(["[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth]), 1
        ).encode()
    text = json.dumps(document)
    if rng.random() < 0.15:
        text = _replaced(r"-?\d+(?:\.\d+)?", text, rng.choice(NUMBERS), rng)
    if rng.random() < 0.1:
        text = _replaced(r'(?<=")[A-Za-z_]+(?=")', text, r"\ud800", rng)
    return text.encode()


def harm_document(document: Any, rng: random.Random) -> Any:
    """Return a copy of a document in which one value, or one key, is another one."""
    document = copy.deepcopy(document)
    places = _places(document)
    if not places:
        return odd_value(rng)
    holder, key = rng.choice(places)
    kind = rng.randrange(6)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[rng.choice(TEXTS)] = holder.pop(key)
    elif kind == 2 and isinstance(holder, list):
        holder[key:key] = [copy.deepcopy(holder[key])] * rng.choice([1, 30])
    elif kind == 3 and isinstance(holder, list):
        del holder[key]
    elif kind == 4:
        holder[key] = rng.choice([[holder[key]], {"a": holder[key]}, str(holder[key]), [], {}, None])
    else:
        holder[key] = odd_value(rng)
    return document


def _with(document: Any, value: Any, rng: random.Random) -> Any:
    places = _places(document)
    if places:
        holder, key = rng.choice(places)
        holder[key] = value
        return document
    return value


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Return what holds each value of a document, and under which key or position; few of each long list."""
    places: list[tuple[Any, Any]] = []
    rest = [document]
    while rest:
        holder = rest.pop()
        keys = (
            list(holder)
            if isinstance(holder, dict)
            else list(range(len(holder)))[:6]
            if isinstance(holder, list)
            else []
        )
        places += [(holder, key) for key in keys]
        rest += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
    return places


def odd_value(rng: random.Random) -> Any:
    """Return a value that few fields expect."""
    odd = [
        None,
        True,
        False,
        0,
        -1,
        1.5,
        2**31,
        2**53 + 1,
        2**63,
        -(2**63) - 1,
        10**300,
        1e308,
        float("nan"),
        float("inf"),
    ]
    return rng.choice([*odd, [], {}, [[]], [None], {"": None}, [1, "a"], list(range(500)), *TEXTS])


def harm_parquet(content: bytes, rng: random.Random) -> bytes:
    """Return a table of Parquet with other types, columns, cells, rows or metadata, or with harmed bytes."""
    if rng.random() < 0.2:
        return harm_bytes(content, rng)
    table = pq.read_table(io.BytesIO(content))
    for _ in range(rng.randint(1, 2)):
        table = _harm_table(table, rng)
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _harm_table(table: pa.Table, rng: random.Random) -> pa.Table:
    place = rng.randrange(table.num_columns)
    name, column, rows = table.column_names[place], table.column(place), table.num_rows
    kind = rng.randrange(7)
    if kind == 0 and table.num_columns > 1:
        return table.remove_column(place)
    if kind == 1:
        return table.rename_columns(
            [rng.choice(TEXTS) if i == place else one for i, one in enumerate(table.column_names)]
        )
    if kind == 2:
        return table.slice(0, rng.choice([0, 1, rows // 2]))
    if kind == 3:
        return table.replace_schema_metadata(_harm_metadata(table.schema.metadata or {}, rng))
    if kind == 4:
        return table.append_column(rng.choice([name, *TEXTS]), column)
    return table.set_column(place, name, _odd_column(column, rows, rng))


def _harm_metadata(metadata: dict[bytes, bytes], rng: random.Random) -> dict[bytes, bytes] | None:
    if rng.random() < 0.1 or b"schedlab" not in metadata:
        return rng.choice([None, {}, {b"schedlab": b"\xff{"}, {b"schedlab": b"[]"}, {b"schedlab": b"null"}])
    return {b"schedlab": harm_json(metadata[b"schedlab"], rng)}


def _odd_column(column: pa.ChunkedArray, rows: int, rng: random.Random) -> pa.Array:
    values = column.to_pylist()
    kinds: list[Callable[[], pa.Array]] = [
        lambda: pa.array([str(value) for value in values], pa.string()),
        lambda: pa.nulls(rows, column.type),
        lambda: pa.array([rng.choice([0.5, float("nan"), float("inf"), 1e300]) for _ in values], pa.float64()),
        lambda: pa.array([rng.choice([-(2**63), 2**63 - 1, -1, 0, 2**53]) for _ in values], pa.int64()),
        lambda: pa.array([rng.random() < 0.5 for _ in values], pa.bool_()),
        lambda: pa.array([[1, 2] for _ in values], pa.list_(pa.int64())),
        lambda: pa.array([{"a": 1} for _ in values], pa.struct([("a", pa.int64())])),
        lambda: pa.array(values[::-1], column.type),
        lambda: pa.array([b"\xff" for _ in values], pa.binary()),
        lambda: pa.array([2**64 - 1 for _ in values], pa.uint64()),
    ]
    return rng.choice(kinds)()


def harm_gzip(content: bytes, rng: random.Random) -> bytes:
    """Return a compressed file that is damaged, holds a harmed text, or swells to far more than it should."""
    kind = rng.randrange(6)
    if kind == 0:
        return harm_bytes(content, rng)
    if kind == 1:
        filler = rng.choice([b"\0", b"\n", b";\n", b"1 ", b"[", b"1,2,3\n", b"; a comment\n"])
        return gzip.compress(filler * ((300 << 20) // len(filler)), compresslevel=1)
    return gzip.compress(harm_text(gzip.decompress(content), rng), compresslevel=1)


def harm_saved(content: bytes, rng: random.Random) -> bytes:
    """Return a saved simulation with a harmed header or workload under the right checksum, or another harmed member."""
    if rng.random() < 0.2:
        return harm_bytes(content, rng)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"])
    name = rng.choice(["header.json", *members])
    if name == "header.json":
        members[name] = harm_json(members[name], rng)
    elif name.endswith(".npy"):
        members[name] = _harm_array(members[name], rng)
    else:
        members[name] = harm_parquet(members[name], rng)
        header["sha256"][name] = hashlib.sha256(members[name]).hexdigest()
        members["header.json"] = json.dumps(header).encode()
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, harmed in members.items():
            archive.writestr(member, harmed)
    return sink.getvalue()


def _harm_array(content: bytes, rng: random.Random) -> bytes:
    """Return an NPY file with another number somewhere, another shape or type, or harmed bytes."""
    array = np.load(io.BytesIO(content), allow_pickle=False)
    kind = rng.randrange(6)
    if kind == 0 or not array.size or array.dtype.kind not in "iufb":
        return harm_bytes(content, rng)
    if kind == 1:
        array = rng.choice([array[:0], array.astype("f4"), np.repeat(array, 2), array.reshape(1, *array.shape)])
    else:
        array.flat[rng.randrange(array.size)] = rng.choice([0, 1]) if kind == 2 else rng.choice(_extremes(array))
    sink = io.BytesIO()
    np.lib.format.write_array(sink, array, allow_pickle=False)
    return sink.getvalue()


def _extremes(array: Any) -> list[Any]:
    if array.dtype.kind == "f":
        return [np.nan, np.inf, -np.inf, -1.0, 1e300]
    if array.dtype.kind == "b":
        return [True, False]
    most = np.iinfo(array.dtype)
    return [most.min, most.max, most.max // 2, -1 if most.min else 1, array.size, 7]
