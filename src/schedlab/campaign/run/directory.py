"""The run directory of a campaign: files are the truth.

    campaign.json    the definition, what is known of its inputs, and by which schedlab it was last run
    results/         one Parquet file per batch of tasks
    failed/          one JSON file per batch that had failures, with tracebacks
    schedules/       whole schedules, where they are asked for
    workflows/       of experiments, what became of each workflow; one Parquet file per batch
    distributions/   of experiments, percentiles and histograms; one Parquet file per batch
    inflight/        which task each process is at, as long as it lives
    corrupt/         files that did not hold what they once held
    lock.json        who runs the campaign

A result is there when its file is there; nothing else says so. The names of results, failures and schedules end with
the checksum of their content, and they appear by renaming: what has the right name is complete and unharmed. What has
another name, or is a symbolic link, is not schedlab's: it is never read, moved or removed.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.atomic import atomic_path
from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.plan import Plan
from schedlab.campaign.run.contents import FACTS, REMEDY, failures_in, names_in, plan_of, plan_without_code, results_in
from schedlab.campaign.run.outcome import Failure, Status
from schedlab.campaign.run.own_files import is_file, modified
from schedlab.campaign.run.run_files import RunFiles
from schedlab.campaign.sources.input import Input
from schedlab.documents import checked, parse_json, read_bytes
from schedlab.errors import InputError, OutputError
from schedlab.imports import check_imports
from schedlab.naming import label_of
from schedlab.own_code import digest_of_code
from schedlab.wording import shown

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SCHEMA = 1
"""Version of the form of run directories."""


@explained
class RunDirectory(RunFiles):
    """The files of a campaign.

    Parameters
    ----------
    path
        Of the directory.
    """

    changed_code: Sequence[str] = ()
    """What of the user's own that the campaign names has other code than when it was last run."""

    def __repr__(self) -> str:
        return f"<RunDirectory {self.path}>"

    @classmethod
    @explained
    def open(cls, path: str | os.PathLike[str]) -> RunDirectory:
        """Return an existing run directory.

        Raises
        ------
        InputError
            If there is none, or if it is of another version.
        """
        run = cls(path)
        if not is_file(run.path / "campaign.json"):
            raise InputError(
                f"{path} is not a run directory (no campaign.json): use schedlab.run_campaign or schedlab campaign run"
            )
        run.check_version()
        return run

    def check_version(self) -> None:
        """Raise InputError if campaign.json cannot be read or is of another version."""
        self.facts  # noqa: B018

    def create(self) -> None:
        """Make the directory and its parts, unless they are there.

        Raises
        ------
        OutputError
            If that is not possible, or if it is not writable.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot create the run directory {self.path}: {error.strerror or error}") from error
        for part in ("results", "failed", "schedules", "inflight"):
            self.ensure(part)
        if not os.access(self.path, os.W_OK):
            raise OutputError(f"the run directory {self.path} is not writable")

    def write_facts(
        self, plan: Plan, base: Path, provenance: dict[str, Any], command: str = "", text: str = ""
    ) -> None:
        """Write campaign.json.

        Parameters
        ----------
        plan
            The plan that holds from now on.
        base
            Directory from which relative paths start.
        provenance
            Versions.
        command, text
            What the user typed, and what the campaign file says.
        """
        document = {
            "schema": SCHEMA,
            "name": plan.campaign.name,
            "definition": plan.campaign.model_dump(mode="json"),
            "base": str(base.resolve()),
            "inputs": [item.to_dict() for item in plan.inputs],
            "tasks": len(plan),
            "code": plan.code,
            "schedulers": plan.schedulers,
            "command": command,
            "text": text,
            "provenance": provenance,
        }
        self.refuse_link("campaign.json")
        with atomic_path(self.path / "campaign.json") as temporary:
            temporary.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        self.__dict__.pop("facts", None)
        self.__dict__["plan"] = plan

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What campaign.json says.

        Raises
        ------
        InputError
            If it cannot be read or is of another version.
        """
        file = self.path / "campaign.json"
        if file.is_symlink():
            raise InputError(f"{file} is a symbolic link, which schedlab does not follow within a run directory")
        try:
            document = parse_json(read_bytes(file, "campaign"))
            schema = document["schema"]
        except InputError:
            raise
        except (ValueError, KeyError, TypeError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise InputError(f"{file} cannot be read ({reason}); {REMEDY}") from None
        if schema != SCHEMA:
            raise InputError(
                f"{self.path} has schema version {shown(schema)}, but this schedlab reads version {SCHEMA}: "
                "use the version of schedlab that wrote it, or another directory"
            )
        return checked(FACTS, document, f"{file} cannot be read", REMEDY).model_dump(by_alias=True)

    @cached_property
    def plan(self) -> Plan:
        """The plan of the campaign, as it was last run.

        Raises
        ------
        InputError
            If campaign.json describes none.
        """
        return plan_of(self.facts, str(self.path / "campaign.json"))

    def without_code(self) -> RunDirectory:
        """Return this directory with a plan that imports nothing: it counts simulations and names failures.

        Raises
        ------
        InputError
            If campaign.json describes no plan.
        """
        counted = RunDirectory(self.path)
        counted.__dict__["plan"] = plan_without_code(self.facts, str(self.path / "campaign.json"))
        return counted

    def other_code(self) -> list[str]:
        """Return what of the user's own has other code now than when the campaign was last run.

        Of what this process may not import, or cannot, nothing is told.
        """
        found = []
        for name, digest in self.facts["code"].items():
            with suppress(InputError):
                check_imports([name], str(self.path))
                found += [name] if digest_of_code(name) != digest else []
        return found

    def known_inputs(self, campaign: Campaign) -> list[Input]:
        """Return what is known from the last run of the inputs of entries that have not changed since."""
        if not (self.path / "campaign.json").exists():
            return []
        before, entries = self.plan.campaign.workloads, campaign.workloads
        unchanged = {number for number in range(min(len(before), len(entries))) if before[number] == entries[number]}
        return [item for item in self.plan.inputs if item.entry in unchanged]

    # Results

    def table(self, columns: Sequence[str] | None = None) -> pa.Table | None:
        """Return all results that belong to the plan, each task once, in the order of the plan; None without any.

        Parameters
        ----------
        columns
            Which; by default, all.
        """
        import pyarrow as pa

        tables = list(self._tables(self.plan, columns))
        if not tables:
            return None
        table = pa.concat_tables(tables, promote_options="permissive")
        positions, rows = self._rows(names_in(table))
        return table.take(rows[np.argsort(positions, kind="stable")])

    def _tables(self, plan: Plan, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the results, file by file, whatever plan they belong to; what is not sound is moved aside."""
        for path, content in self.contents("results", ".parquet"):
            try:
                yield results_in(content, plan, columns)
            except ValueError:
                self.set_aside(path)

    def _rows(self, names: NDArray[np.bytes_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the positions in the plan of the results that belong to it, each once, and their rows."""
        names, rows = np.unique(names, return_index=True)
        in_plan = np.isin(names, self.plan.names)
        return self.plan.positions(names[in_plan]), rows[in_plan]

    def results(self) -> pd.DataFrame:
        """Return the results as a data frame, one row per finished task, in the order of the plan.

        Returns
        -------
        pandas.DataFrame
            `task`, `workload`, `load`, `repetition`, `window`, `scheduler` (its name, if it has one), then the metrics,
            and at last `seconds` (of the simulation) and `specification`.

        Raises
        ------
        InputError
            If there is no result yet.
        """
        table = self.table()
        if table is None or not table.num_rows:
            raise InputError(f"{self.path}: not enough data: no simulation of this campaign has finished yet")
        frame: pd.DataFrame = table.to_pandas()
        frame["scheduler"] = frame["scheduler"].map({text: label_of(text) for text in frame["scheduler"].unique()})
        return frame

    def done(self, plan: Plan | None = None, *, checked: bool = False) -> NDArray[np.bool_]:
        """Return for each task whether its result is there, and its schedule, if that is asked for.

        Parameters
        ----------
        plan
            The tasks; by default, those of the plan that was last run.
        checked
            Whether to read the schedules, too, to see that they are unharmed.
        """
        plan = self.plan if plan is None else plan
        done = np.zeros(len(plan), dtype=np.bool_)
        for table in self._tables(plan, ["task"]):
            done[plan.positions(names_in(table))] = True
        if plan.campaign.schedules:
            kept = np.zeros(len(plan), dtype=np.bool_)
            files = self.files("schedules", ".parquet")
            if checked:
                files = [path for path in files if self.read(path) is not None]
            stems = [path.name.partition("-")[0].encode() for path in files]
            kept[plan.positions(np.array(stems, dtype="S"))] = True
            done &= kept
        return done

    def sweep(self) -> None:
        """Remove what processes that are gone have left, see `RunFiles.sweep`, and schedules without a result."""
        super().sweep()
        for path in self.orphaned_schedules():
            with suppress(OSError):
                path.unlink()

    def orphaned_schedules(self) -> list[Path]:
        """Return the schedules of simulations that have no result, and of each other one all but the newest.

        A simulation's schedule is written as soon as it ends, its result with those of its batch: a process that dies
        in between leaves schedules of simulations that are made again. Results of earlier plans count, too.
        """
        files = self.files("schedules", ".parquet")
        if not files:
            return []
        single = {name.decode() for table in self._tables(self.plan, ["task"]) for name in names_in(table)}
        orphans = []
        for path in sorted(files, key=modified, reverse=True):
            task = path.name.partition("-")[0]
            if task in single:
                single.remove(task)
            else:
                orphans.append(path)
        return orphans

    # Failures

    def failures(self, done: NDArray[np.bool_] | None = None) -> dict[str, Failure]:
        """Return the last failure of each task of the plan that has no result, by its name.

        Parameters
        ----------
        done
            Which tasks have one, if that is known already, see `done`.
        """
        found: dict[str, Failure] = {}
        for path, content in self.contents("failed", ".json"):
            try:
                failures = failures_in(content, self.plan)
            except ValueError:
                self.set_aside(path)
                continue
            for failure in failures:
                if failure.task not in found or found[failure.task].time <= failure.time:
                    found[failure.task] = failure
        names = np.array([name.encode() for name in found], dtype="S")
        positions = self.plan.positions(names)
        if len(positions):
            done = self.done() if done is None else done
            positions = positions[~done[positions]]
        return {name: found[name] for name, _ in map(self.plan.task, np.sort(positions).tolist())}

    def store_failures(self, stem: str, failures: Sequence[Failure]) -> None:
        """Write failures."""
        content = json.dumps([asdict(failure) for failure in failures], indent=1).encode()
        self.store("failed", stem, ".json", content)

    # State

    def status(self) -> Status:
        """Return how far the campaign is, from the files alone."""
        done = self.done()
        return Status(
            planned=len(self.plan),
            done=int(done.sum()),
            failed=len(self.failures(done)),
            running=len(self.files("inflight")),
            corrupt=len(self.files("corrupt")),
        )

    def schedule_file(self, task: str) -> Path | None:
        """Return the unharmed file of a task's schedule; None if there is none."""
        files = (path for path in self.files("schedules", ".parquet") if path.name.startswith(task))
        return next((path for path in files if self.read(path) is not None), None)

    def command_for(self, task: str) -> str:
        """Return the command that runs one task alone; it allows all code that the campaign names."""
        words = ["schedlab", "campaign", "task", str(self.path), task[:12]]
        if self.plan.code:
            words += ["--allow-import", ",".join(self.plan.code)]
        return shlex.join(words)
