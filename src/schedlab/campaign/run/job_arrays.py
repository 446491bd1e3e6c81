"""Job arrays that have been handed to Slurm: what each is to do, and whether Slurm still has some of it.

A file in `slurm/` of the run directory says what the elements of an array are to do. It is there as long as some of
them may live: no other process may run the campaign until Slurm says that none of them is left.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from schedlab.atomic import atomic_path
from schedlab.campaign.definition.plan import MOST_TASKS, Plan
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.own_files import is_file
from schedlab.documents import checked, read_json
from schedlab.errors import InputError


@dataclass(frozen=True, slots=True)
class Submission:
    """A job array.

    Parameters
    ----------
    name
        Of the Slurm job, and of the files that belong to it.
    plan
        Fingerprint of the plan that positions refer to, see `fingerprint`.
    tasks
        How many there are to do.
    elements
        How many the array has; 0 if there was nothing to do.
    batches
        Positions of the tasks of each batch, see `ranges`; element i has every batch whose number is i modulo
        `elements`.
    job
        Number of the Slurm job, once it has one.
    """

    name: str
    plan: str
    tasks: int
    elements: int
    batches: tuple[str, ...]
    job: str = ""

    def __str__(self) -> str:
        if not self.job:
            return "nothing was submitted: every simulation is done or has failed"
        return f"Slurm job {self.job} ({self.name}): {self.tasks:,} simulations in {self.elements:,} array elements"

    def share(self, element: int) -> list[NDArray[np.intp]]:
        """Return the positions of the tasks of each batch of an element."""
        return [positions(batch) for batch in self.batches[element :: self.elements]]

    def write(self, run: RunDirectory) -> None:
        """Write what elements have to know.

        Raises
        ------
        OutputError
            If that is not possible.
        """
        # The number of the job is not among it: elements may begin before it is known to us.
        with atomic_path(self.file(run)) as temporary:
            temporary.write_text(json.dumps(asdict(replace(self, job="")), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, run: RunDirectory, name: str) -> Submission:
        """Return the submission of a name.

        Raises
        ------
        InputError
            If it is not there, or if the campaign has changed since.
        """
        path = run.path / "slurm" / f"{name}.json"
        if not path.exists():
            raise InputError(f"cannot read {path}: no such file; submit the campaign again")
        submission = _read(path)
        if submission is None:
            raise InputError(f"{path} is not a valid submission; submit the campaign again")
        if submission.plan != fingerprint(run.plan):
            raise InputError(f"the campaign has changed since {name} was submitted; submit it again")
        return submission

    def file(self, run: RunDirectory, suffix: str = ".json") -> Path:
        """Return the file of the run directory that belongs to it."""
        return run.path / "slurm" / f"{self.name}{suffix}"


def submissions(run: RunDirectory) -> list[Submission]:
    """Return the submissions that a run directory knows of; files that schedlab did not write are passed over."""
    found = (_read(path) for path in run.files("slurm", ".json"))
    return [submission for submission in found if submission is not None]


def _read(path: Path) -> Submission | None:
    """Return the submission that a file holds; None if it is not one, or one of another name."""
    try:
        submission = checked(_SUBMISSION, read_json(path, "submission"), str(path), "submit the campaign again")
    except InputError:
        return None
    sound = submission.elements > 0 and submission.name == path.stem
    sound = sound and all(_RANGES.fullmatch(batch) and _ends_below(batch, MOST_TASKS) for batch in submission.batches)
    return submission if sound else None


_SUBMISSION = TypeAdapter(Submission)
_RANGES = re.compile(r"\d{1,12}(-\d{1,12})?(,\d{1,12}(-\d{1,12})?)*")


def _ends_below(batch: str, limit: int) -> bool:
    return max(map(int, re.findall(r"\d+", batch))) < limit


def fingerprint(plan: Plan) -> str:
    """Return what tells a plan from another one: a digest of the names of its tasks, in their order."""
    return hashlib.sha256(plan.names.tobytes()).hexdigest()[:16]


def ranges(numbers: NDArray[np.intp]) -> str:
    """Return ascending numbers as text, consecutive ones in short.

    Examples
    --------
    >>> ranges(np.array([0, 1, 2, 5, 7, 8]))
    '0-2,5,7-8'
    """
    begins = numbers[np.diff(numbers, prepend=numbers[0] - 2) > 1].tolist()
    ends = numbers[np.diff(numbers, append=numbers[-1] + 2) > 1].tolist()
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in zip(begins, ends, strict=True))


def positions(text: str) -> NDArray[np.intp]:
    """Return the numbers that `ranges` has written.

    Examples
    --------
    >>> positions("0-2,5,7-8").tolist()
    [0, 1, 2, 5, 7, 8]
    """
    bounds = [(int(a), int(b or a)) for a, _, b in (part.partition("-") for part in text.split(","))]
    return np.concatenate([np.arange(a, b + 1, dtype=np.intp) for a, b in bounds])


def active(run: RunDirectory) -> dict[str, int]:
    """Return the Slurm jobs that are at work on a campaign, each with its number of elements that wait or run.

    Raises
    ------
    InputError
        If Slurm cannot be asked.
    """
    names = [submission.name for submission in submissions(run)]
    if not names:
        return {}
    # By name, for Slurm does not know finished jobs by their number for long and calls such a question an error.
    queue = slurm_program("squeue", "--noheader", "--array", f"--name={','.join(names)}", "--format=%F")
    return dict(Counter(queue.split()))


def settle(run: RunDirectory) -> None:
    """Forget submissions of which Slurm has nothing left.

    Raises
    ------
    InputError
        If elements wait or run, or if Slurm cannot be asked.
    """
    try:
        jobs = active(run)
    except InputError as error:
        raise InputError(
            f"cannot ask Slurm whether elements of {run.path} are left ({error}): use a host where squeue works, or "
            f"remove {run.path / 'slurm'} if you know that none is left"
        ) from None
    for job, number in jobs.items():
        raise InputError(
            f"{run.path} is in use by Slurm job {job} (array elements that wait or run: {number:,}); "
            f"wait until it has finished, or stop it with scancel {job}"
        )
    for submission in submissions(run):
        for suffix in (".json", ".sh"):
            if is_file(submission.file(run, suffix)):
                with suppress(OSError):
                    submission.file(run, suffix).unlink()


def slurm_program(program: str, *arguments: str) -> str:
    """Return what a program of Slurm prints.

    Raises
    ------
    InputError
        If it is not there or fails.
    """
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise InputError(f"{program} cannot be run here: {error.strerror}") from None
    if done.returncode:
        raise InputError(f"{program} failed: {' '.join(done.stderr.split()) or f'exit code {done.returncode}'}")
    return done.stdout
