"""Run a deployment in a laboratory, with the very files that an administrator would install."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.slurm.configuration import Configuration
from schedlab.slurm.daemon import LaboratoryError
from schedlab.slurm.deployment import AT_SUBMISSION, WITHIN, Deployment
from schedlab.slurm.laboratory import Laboratory

BASE_PRIORITY = 1_000_000
"""Weight of the partition under a site factor, which needs a priority to be added to: Slurm cuts them off at 1."""

_PATIENCE = 10.0


def installed(configuration: Configuration, deployment: Deployment) -> Configuration:
    """Return a configuration as its README changes it.

    Raises
    ------
    InputError
        If there is a job_submit.lua already.
    """
    if deployment.way in WITHIN and configuration.value("PriorityWeightPartition") is None:
        configuration = configuration.having(PriorityWeightPartition=BASE_PRIORITY)
    if deployment.way not in AT_SUBMISSION:
        return configuration
    if "job_submit.lua" in configuration.files:
        raise InputError(
            f"{configuration.source}: a job_submit.lua exists already: merge the deployed one into it by hand"
        )
    plugins = [name for name in (configuration.value("JobSubmitPlugins") or "").split(",") if name]
    script = {"job_submit.lua": deployment.live().files["job_submit.lua"]}
    changed = configuration.having(JobSubmitPlugins=",".join([*plugins, "lua"]))
    return replace(changed, files={**configuration.files, **script})


@explained
class Rehearsal:
    """The daemon of a deployment beside a laboratory; the clock stands while it looks at the queue.

    Parameters
    ----------
    laboratory
        Which has started.
    deployment
        Its files are written into the laboratory's directory. One in Lua has no daemon.

    Raises
    ------
    InputError
        If it needs slurmrestd, and there is none.
    """

    def __init__(self, laboratory: Laboratory, deployment: Deployment) -> None:
        self.laboratory = laboratory
        self.deployment = deployment.live()
        self.directory = laboratory.directory / "deployment"
        self.socket = laboratory.directory / "rest.sock"
        self.log: list[str] = []
        self.deployment.save(self.directory)

    def look(self, *options: str) -> str:
        """Let the daemon look at the queue once, and return what it logs.

        Raises
        ------
        LaboratoryError
            If it fails.
        """
        environment = self._environment() | {"SLURMRESTD_SOCKET": str(self.socket)}
        command = [sys.executable, str(self.directory / "priority_daemon.py"), *(options or ("--once",))]
        answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if answer.returncode:
            raise LaboratoryError(f"the daemon of {self.deployment.policy} fails: {answer.stderr.strip()}")
        self.log += answer.stderr.splitlines()
        return answer.stderr

    @contextmanager
    def attended(self) -> Iterator[Rehearsal]:
        """Let the daemon look at its period while the laboratory runs, with a slurmrestd if it needs one."""
        if self.deployment.way in AT_SUBMISSION:
            yield self
            return
        self.laboratory.every(self.deployment.period, self._look_once)
        if self.deployment.way != "rest":
            yield self
            return
        process = self._rest_daemon()
        try:
            yield self
        finally:
            process.kill()
            process.wait()

    def _look_once(self) -> None:
        self.look()

    def _environment(self) -> dict[str, str]:
        return self.laboratory.daemon.environment(self.laboratory.clock.now())

    def _rest_daemon(self) -> subprocess.Popen[bytes]:
        installation = self.laboratory.installation
        if not installation.has("slurmrestd"):
            raise InputError(
                f"a deployment as rest needs slurmrestd, which Slurm {installation.version} under "
                f"{installation.prefix} lacks: apt-get install slurmrestd"
            )
        # It refuses to run as the user of slurmctld or root, for whom anybody with its socket could act.
        checks = "disable_user_check,disable_unshare_sysv,disable_unshare_files"
        environment = self._environment() | {"SLURMRESTD_SECURITY": checks}
        said = self.laboratory.directory / "log" / "slurmrestd.txt"
        with open(said, "wb") as log:
            process = subprocess.Popen(
                [
                    installation.program("slurmrestd"),
                    "-a",
                    "rest_auth/local",
                    "-s",
                    "openapi/v0.0.38",
                    f"unix:{self.socket}",
                ],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        begin = time.monotonic()
        while not self.socket.exists():
            if process.poll() is not None or time.monotonic() - begin > _PATIENCE:
                process.kill()
                process.wait()
                message = said.read_text(encoding="utf-8", errors="replace").strip()
                raise LaboratoryError(f"slurmrestd does not start: {message[-500:]}")
            time.sleep(0.05)
        return process
