"""The README of an archived campaign."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from schedlab.campaign.run.directory import RunDirectory
from schedlab.wording import count_of


def readme(run: RunDirectory, archive: str, hashes: Mapping[str, str]) -> str:
    """Return what stands in an archive for a person: what it is, what made it, how to run it again, and fingerprints.

    Parameters
    ----------
    run
        The run directory.
    archive
        The name of the archive.
    hashes
        The SHA-256 of its files.
    """
    facts, status = run.facts, run.status()
    names = run.plan.campaign.named_classes()
    allowed = f" --allow-import {','.join(names)}" if names else ""
    again = f"schedlab campaign rerun {shlex.quote(archive)}{allowed}"
    parts = [
        f"# {facts['name']}",
        facts["definition"]["description"],
        f"A campaign of schedlab: {count_of(len(run.plan), 'simulation')}, {status.done:,} done and "
        f"{status.failed:,} failed. It was run by `{facts['command'] or 'a program'}` with "
        f"{', '.join(f'{name} {version}' for name, version in facts['provenance'].items())}.",
        "## Run it again",
        f"```sh\n{again}\n```",
        "This opens the archive, checks the fingerprint of every file, runs all simulations, and tells which results "
        "differ from those in it. The same versions on the same kind of processor give the same bits.",
    ]
    if names:
        parts.append(
            f"It imports code: {', '.join(names)}. What of that is in `code/` comes from whoever made the archive: "
            "read it before you allow it."
        )
    if facts["text"]:
        parts += ["## The campaign file", f"```\n{facts['text'].rstrip()}\n```"]
    table = "\n".join(f"| `{name}` | `{sha256}` |" for name, sha256 in hashes.items() if not name.startswith("run/"))
    if table:
        parts += ["## Inputs and code", f"| file | SHA-256 |\n|---|---|\n{table}"]
    return "\n\n".join(part for part in parts if part) + "\n"
