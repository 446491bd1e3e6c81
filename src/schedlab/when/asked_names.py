"""The names that a new job gives, its user, account, QOS and partition: whether the site has them."""

from __future__ import annotations

from collections.abc import Iterable

from schedlab.cluster.membership import users_of
from schedlab.errors import InputError
from schedlab.site.coverage import listed
from schedlab.site.site import Site
from schedlab.site.site_names import SiteNames
from schedlab.wording import did_you_mean, shown
from schedlab.workload.workload import Workload


def check_names(job: Workload, site: Site) -> None:
    """Refuse a new job whose names the site does not have: with others, the answer would be that of another job.

    Users, accounts and QOS are known if the site was imported with its accounts; those of recorded jobs count, too.

    Raises
    ------
    InputError
        With the names that are near, or some of those that are there.
    """
    known, asked = SiteNames.of(site), _names(job)
    recorded = {} if site.jobs is None else _names(site.jobs)
    _check("partition", (one for text in asked["partition"] for one in text.split(",")), known.partitions)
    for kind, names in (("user", known.users), ("account", known.accounts), ("QOS", known.qos)):
        if names:
            _check(kind, asked[kind], [*names, *recorded.get(kind, ())])


def admitted_qos(site: Site) -> str:
    """Return which QOS partitions admit, and how a job asks for one, as the end of a sentence."""
    names = sorted({name for one in site.cluster.partitions for name in one.allow_qos})
    return f"; partitions here admit {listed(names)}, which a job asks for by -q QOS" if names else ""


def _names(jobs: Workload) -> dict[str, tuple[str, ...]]:
    asked = jobs.resources
    labels = {} if asked is None else {"partition": asked.partition, "account": asked.account, "QOS": asked.qos}
    empty = dict.fromkeys(("partition", "account", "QOS"), ())
    return empty | {kind: one.names for kind, one in labels.items()} | {"user": users_of(jobs).names}


def _check(kind: str, asked: Iterable[str], known: list[str]) -> None:
    there = {name.lower() for name in known}
    for name in asked:
        if name.lower() not in there:
            near = did_you_mean(name, known)
            some = "" if near else f"; there are {listed(known)}"
            raise InputError(f"the site has no {kind} {shown(name)}{near}{some}")
