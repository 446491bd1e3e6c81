"""The slurmctld of a laboratory, as a process: its files, its start and end, its clients, and what it complains of."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from schedlab.errors import InputError, SchedlabError
from schedlab.slurm.account_state import state_files
from schedlab.slurm.configuration import Configuration
from schedlab.slurm.installation import Installation, library
from schedlab.slurm.releases import release_of
from schedlab.slurm.wire import Node

_FIRST_UID = 60_001

_SAYS_NOTHING = "Unable to process configuration file"
"""What slurmctld ends with when it has said before what is wrong."""


class LaboratoryError(SchedlabError):
    """Slurm did something that a laboratory cannot go on with; the message quotes it."""


class Daemon:
    """An unmodified slurmctld under the clock.

    Parameters
    ----------
    configuration
        What it is started with.
    installation
        Which Slurm.
    directory
        Of its files.
    uids
        Of the users of the laboratory.
    nodes
        Port of the stand-in for slurmd.
    """

    def __init__(
        self,
        configuration: Configuration,
        installation: Installation,
        directory: Path,
        uids: dict[str, int],
        nodes: int,
    ) -> None:
        self.configuration = configuration
        self.installation = installation
        self.library = library(installation)
        self.directory = directory
        self.uids = uids
        self.port = _free_port()
        for folder in ("state", "log"):  # of an earlier run in the same place
            shutil.rmtree(directory / folder, ignore_errors=True)
        plugins = None if installation.prefix == Path("/") else installation.plugins
        release = release_of(installation.version)
        for parameter, options in release.options:
            configuration = configuration.with_options(parameter, options)
        self.conf = configuration.write(directory, controller=self.port, nodes=nodes, plugins=plugins)
        (directory / "users").write_text("".join(f"{name}:{uid}:{uid}\n" for name, uid in uids.items()))
        if configuration.accounts is not None:
            listed = (configuration.value("AccountingStorageTRES") or "").lower().split(",")
            files = state_files(configuration.accounts, uids, filter(None, listed), release)
            for name, content in files.items():
                (directory / "state" / name).write_bytes(content)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, mode: str, let_time_pass: Callable[[], None]) -> bool:
        """Start it, and return whether it came up.

        Parameters
        ----------
        mode
            Of the clock, whose page is the file `clock` in the directory.
        let_time_pass
            Called now and then: slurmctld sleeps while it starts.
        """
        environment = self.installation.environment() | {
            "LD_PRELOAD": str(self.library),
            "SCHEDLAB_CLOCK": str(self.directory / "clock"),
            "SCHEDLAB_CLOCK_MODE": mode,
            "SCHEDLAB_USERS": str(self.directory / "users"),
            # A third of a large backfill pass is malloc: freed pieces are kept for the thread that asks again.
            "GLIBC_TUNABLES": "glibc.malloc.tcache_count=4000",
        }
        # -c would discard the accounts; a new directory has no other state.
        options = [] if self.configuration.accounts is not None else ["-c"]
        with open(self.directory / "log" / "stderr.txt", "wb") as errors:
            # Slurm knows by the name it is called by that it is the controller. Interrupts are ours to handle.
            self._process = subprocess.Popen(
                ["slurmctld", "-D", *options, "-f", str(self.conf)],
                executable=self.installation.program("slurmctld"),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
        for look in range(400):
            time.sleep(0.05)
            if not self.alive:
                return False
            if look > 10:
                let_time_pass()
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return True
        return False

    def refusal(self) -> InputError:
        """Return that it does not start, and its own words."""
        return InputError(f"slurmctld does not start with {self.configuration.source}: {self.complaint()}")

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Raise its refusal if it ends in here: since 26.05 it reads its configuration behind its open port."""
        try:
            yield
        except LaboratoryError:
            if self.alive:
                raise
            raise self.refusal() from None

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """The number of its process."""
        return None if self._process is None else self._process.pid

    def end(self) -> None:
        """End it at once: its state is worth nothing, and an orderly shutdown needs virtual time."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def environment(self, now: int) -> dict[str, str]:
        """Return the environment in which Slurm's programs talk to it, at a virtual time in nanoseconds."""
        return self.installation.environment() | {
            "SLURM_CONF": str(self.conf),
            "LD_PRELOAD": str(self.library),
            "SCHEDLAB_NOW": str(now),
            "SCHEDLAB_USERS": str(self.directory / "users"),
        }

    def client(self, words: Sequence[str], now: int, user: str | None, stdin: str) -> subprocess.CompletedProcess[str]:
        """Run a client program of Slurm."""
        environment = self.environment(now)
        if user is not None:
            uid = str(self.uids[user])
            environment |= {"SCHEDLAB_UID": uid, "SCHEDLAB_GID": uid, "USER": user}
        return subprocess.run(
            list(words),
            executable=self.installation.program(words[0]),
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    def nodes(self, now: int) -> list[Node]:
        """Return its nodes, as it has read them.

        Raises
        ------
        LaboratoryError
            If it has none.
        """
        answer = self.client(["scontrol", "show", "node", "-o"], now, None, "")
        found = [_node(line) for line in answer.stdout.splitlines() if line.startswith("NodeName=")]
        if not found:
            raise LaboratoryError(f"slurmctld has no nodes: {answer.stderr.strip() or self.complaint()}")
        return found

    def complaint(self) -> str:
        """Return what it said last about an error, with the line of the configuration that it names."""
        said: list[str] = []
        for name in ("stderr.txt", "slurmctld.log"):
            path = self.directory / "log" / name
            if path.is_file():
                said += path.read_text(encoding="utf-8", errors="replace").splitlines()
        errors = [line for line in said if re.search(r"fatal|error", line)]
        errors = [line for line in errors if _SAYS_NOTHING not in line] or errors
        parsing = [line for line in errors if "arsing error" in line or "arse error" in line]
        message = (parsing or errors or said or ["it says nothing"])[0 if parsing else -1].strip()
        lines = self.conf.read_text(encoding="utf-8").splitlines() if self.conf.is_file() else []
        matched = re.search(r"line (\d+)", message)
        named = re.search(r"(?:unrecognized key: |in partition )(\S+)", message)
        value = re.search(r"Bad SelectTypeParameter: (\S+)", message)
        if matched is not None and int(matched[1]) <= len(lines):
            message += f" (line {matched[1]}: {lines[int(matched[1]) - 1]})"
        elif named is not None:  # Slurm says what is wrong, but not where
            wrong = re.compile(rf"(PartitionName=)?{re.escape(named[1])}\b", re.IGNORECASE)
            message += "".join(f" (in the line: {line})" for line in lines if wrong.match(line))
        elif value is not None:
            message += "".join(f" (in the line: {line})" for line in lines if value[1].lower() in line.lower())
        return re.sub(r"^\[?[\d\-T:. ]*\]?\s*(slurmctld: )?", "", message)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def numbered(configuration: Configuration, users: Sequence[str]) -> dict[str, int]:
    """Return the numbers of all users of a laboratory: those of its accounts, and others; root is root."""
    names = set(users)
    if configuration.accounts is not None:
        names |= set(configuration.accounts.user_names())
    return {name: 0 if name == "root" else _FIRST_UID + place for place, name in enumerate(sorted(names))}


def _node(line: str) -> Node:
    values = dict(re.findall(r"(\w+)=(\S*)", line))
    gres = []
    for item in re.sub(r"\([^)]*\)", "", values.get("Gres", "")).split(","):
        if item and item != "(null)":
            name, *rest = item.split(":")
            count = int(rest[-1]) if rest and rest[-1].isdigit() else 1
            gres.append((name, rest[0] if len(rest) == 2 else "", count))
    cores, sockets = int(values.get("CoresPerSocket", 1)), int(values.get("Sockets", 1))
    threads, memory = int(values.get("ThreadsPerCore", 1)), int(values.get("RealMemory", 1))
    return Node(values["NodeName"], int(values["CPUTot"]), sockets, cores, threads, memory, tuple(gres))
