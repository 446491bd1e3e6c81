"""Logs are fetched once, checked, and refused if they are not what they should be; against a local server."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from schedlab.errors import InputError, OutputError
from schedlab.workload import archive
from schedlab.workload.archive import LOGS, Log, data_directory, fetch

TEXT = b"; MaxProcs: 4\n1 0 -1 60 4" + 13 * b" -1" + b"\n"
PATH = "/l_toy/Toy-2001-1.swf.gz"


class Archive(ThreadingHTTPServer):
    """Sends what `files` hold and writes down who asked for what."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {PATH: gzip.compress(TEXT)}
        self.requests: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Archive

    def do_GET(self) -> None:
        self.server.requests.append((self.path, self.headers["User-Agent"]))
        content = self.server.files.get(self.path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Archive]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setitem(LOGS, "Toy", Log("l_toy", "Toy-2001-1.swf.gz", hashlib.sha256(TEXT).hexdigest()))
    with Archive() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_a_log_is_downloaded_once(server: Archive, tmp_path: Path) -> None:
    path = fetch("Toy", tmp_path / "new" / "cache", server.url)
    assert path == tmp_path / "new" / "cache" / "Toy-2001-1.swf.gz"
    assert gzip.decompress(path.read_bytes()) == TEXT
    assert fetch("Toy", tmp_path / "new" / "cache", server.url) == path
    assert [asked for asked, _ in server.requests] == [PATH]
    assert (server.requests[0][1] or "").startswith("schedlab/")


@pytest.mark.parametrize("name", ["toy", "Toy-2001-1", "Toy-2001-1.swf", "TOY-2001-1.SWF.GZ"])
def test_a_log_has_its_file_names_as_aliases(server: Archive, tmp_path: Path, name: str) -> None:
    assert fetch(name, tmp_path, server.url + "/").name == "Toy-2001-1.swf.gz"


def test_progress_is_told_but_not_printed(
    server: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    size = len(server.files[PATH])
    monkeypatch.setattr(archive, "BLOCK_BYTES", size - 1)
    told: list[tuple[int, int | None]] = []
    fetch("Toy", tmp_path, server.url, progress=lambda received, total: told.append((received, total)))
    assert told == [(size - 1, size), (size, size)]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "content",
    [gzip.compress(TEXT + b"\n"), gzip.compress(TEXT)[:-9], b"<html>a page of the hotel</html>", b""],
    ids=["other log", "truncated", "web page", "nothing"],
)
def test_a_corrupt_download_is_refused_and_not_kept(server: Archive, tmp_path: Path, content: bytes) -> None:
    server.files[PATH] = content
    with pytest.raises(InputError, match=r"is not the log Toy-2001-1\.swf\.gz"):
        fetch("Toy", tmp_path, server.url)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_in_the_cache_is_replaced(server: Archive, tmp_path: Path) -> None:
    (tmp_path / "Toy-2001-1.swf.gz").write_bytes(b"half")
    assert gzip.decompress(fetch("Toy", tmp_path, server.url).read_bytes()) == TEXT


def test_an_endless_download_is_stopped(server: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 10)
    with pytest.raises(InputError, match="so it is not the log"):
        fetch("Toy", tmp_path, server.url)
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_the_archive_no_longer_has_is_named(server: Archive, tmp_path: Path) -> None:
    server.files.clear()
    with pytest.raises(InputError, match=r"Toy-2001-1\.swf\.gz: the archive answered 404"):
        fetch("Toy", tmp_path, server.url)


def test_offline_one_sentence_says_where_the_file_belongs(server: Archive, tmp_path: Path) -> None:
    server.server_close()
    with pytest.raises(InputError) as caught:
        fetch("Toy", tmp_path, server.url)
    assert "cannot be reached" in str(caught.value)
    assert str(caught.value).endswith(f"put it at {tmp_path / 'Toy-2001-1.swf.gz'}")
    assert list(tmp_path.iterdir()) == []


def test_a_file_put_there_by_hand_is_taken(server: Archive, tmp_path: Path) -> None:
    (tmp_path / "Toy-2001-1.swf.gz").write_bytes(TEXT)
    fetch("Toy", tmp_path, server.url)
    assert server.requests == []


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no log is called 'Summit'; known are .*KTH-SP2.*SDSC-SP2"):
        fetch("Summit")


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot create the directory"):
        fetch("KTH-SP2", tmp_path / "file" / "cache")


def test_the_data_directory_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("SCHEDLAB_DATA", raising=False)
    assert data_directory() == tmp_path / ".cache" / "schedlab"
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert data_directory() == Path("/caches/schedlab")
    monkeypatch.setenv("SCHEDLAB_DATA", "/logs")
    assert data_directory() == Path("/logs")


@pytest.mark.parametrize("name", [name for name in LOGS if name != "LCG"])
def test_the_sums_are_those_of_the_logs(traces: Path, name: str) -> None:
    log = LOGS[name]
    assert hashlib.sha256(gzip.decompress((traces / log.file).read_bytes())).hexdigest() == log.sha256
