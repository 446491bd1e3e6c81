"""The reference page of all parameters, made from the table: `python -m schedlab.site.reference > PAGE`."""

from __future__ import annotations

from collections import Counter

from schedlab.site.parameters import PLACES, Parameter, parameters

BEGIN = """# Parameters of a site

`schedlab site import` reads `slurm.conf`, the files that it includes, `gres.conf`, `topology.conf` or `topology.yaml`
and a dump or script of `sacctmgr`, and accounts for every option of every line. This page lists all parameters of Slurm
that it knows, and what becomes of each:

- **modelled**: as Slurm does it;
- **approximated**: nearly so; the text says what is different;
- **ignored**: without effect on a simulation; the text says why.

An option that is not on this page is listed by the import as *unknown*, with what was perhaps meant: Slurm itself skips
unknown `SchedulerParameters` without a word. Names are not case-sensitive. Of a parameter that is given twice, the last
line counts, as in Slurm. The last column names the tests that hold the model against Slurm's rule.

"""


def page() -> str:
    """Return the page as Markdown."""
    counts = Counter(one.status for one in parameters().values())
    told = ", ".join(f"{counts[status]} are {status}" for status in ("modelled", "approximated", "ignored"))
    parts = [BEGIN, f"Of {len(parameters()):,} parameters and options, {told}.\n"]
    for place, heading in PLACES.items():
        rows = [one for one in parameters().values() if one.place == place]
        parts.append(f"\n## {heading}\n\n| parameter | | what becomes of it | tested in |\n|---|---|---|---|\n")
        parts += [_row(one) for one in sorted(rows, key=_order)]
    return "".join(parts)


def _order(one: Parameter) -> tuple[int, str]:
    return ("modelled", "approximated", "ignored").index(one.status), one.name.lower()


def _row(one: Parameter) -> str:
    tested = f"`{one.tested}`" if one.tested else ""
    return f"| `{one.name}` | {one.status} | {one.how} | {tested} |\n"


if __name__ == "__main__":
    print(page(), end="")
