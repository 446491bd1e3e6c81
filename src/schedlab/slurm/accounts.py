"""Accounts of a laboratory: a site's own, or equal ones.

slurmctld keeps what the database told it in two files, and starts from them when the database does not answer. The
laboratory writes these files itself (`schedlab.slurm.account_state`), so that limits and fair share work without a
database.
"""

from __future__ import annotations

from collections.abc import Iterable

from schedlab.arguments import explained
from schedlab.cluster.sacctmgr import Accounts, Association, read_accounts

__all__ = ["Accounts", "equal_shares", "read_accounts"]


@explained
def equal_shares(users: Iterable[str], cluster: str = "lab") -> Accounts:
    """Return accounts in which all users stand side by side with equal shares, under the account `users`."""
    accounts = Accounts(cluster)
    accounts.accounts["users"] = Association("users")
    for user in users:
        accounts.users.append(Association("users", user))
        accounts.default_account[user] = "users"
    return accounts
