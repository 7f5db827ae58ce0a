"""A vendor account, and which of several is sent through; no I/O."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NewType

from tidings.kernel.ids import IdKind
from tidings.router.prices.model import PriceModel

AdapterConfigId = NewType("AdapterConfigId", str)
ADAPTER_CONFIG = IdKind("adcfg", AdapterConfigId)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAccount:
    """A vendor account as it is stored."""

    id: str
    #: Whether it is the platform's, which all tenants may use.
    platform: bool
    vendor: str
    handle: str | None
    secret_ref: str
    per_second: int | None
    per_day: int | None
    #: Grows with every change.
    version: int = 1
    #: What a message costs; None where no price is set.
    prices: PriceModel | None = None
    #: Switched off: nothing new goes through it. Accounts are never deleted; what came of their messages is still heard.
    active: bool = True
    #: When it was last changed; None for one that is not stored yet.
    changed_at: datetime | None = None


def chosen(accounts: Iterable[StoredAccount]) -> dict[str, StoredAccount]:
    """The one to send through with each vendor, of accounts in the order of `find_accounts`.

    The first that is switched on; where all are off the first of those, so that an execution knows why it has to wait.
    """
    found: dict[str, StoredAccount] = {}
    for account in accounts:
        known = found.get(account.vendor)
        if known is None or (account.active and not known.active):
            found[account.vendor] = account
    return found
