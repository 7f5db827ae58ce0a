"""The only Python here that runs SQL on vendor accounts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.router.channel_configs.errors import UnknownAccountError
from tidings.router.prices.model import PriceModel, prices_text, read_prices

QUERIES = Queries.beside(__file__)


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
    #: What a message costs; None where nobody has said.
    prices: PriceModel | None = None
    #: Switched off: nothing new goes through it. Accounts are never deleted; what came of their messages is still heard.
    active: bool = True
    #: When it was last changed; None for one that is not stored yet.
    changed_at: datetime | None = None


async def lock_accounts(tx: TenantTx | PlatformTx) -> None:
    """Wait for whoever is changing the same owner's accounts just now."""
    await tx.fetch(QUERIES.lock_accounts, tenant_id=_owner(tx))


async def find_accounts(
    tx: TenantTx | PlatformTx, *, vendors: Sequence[str] | None = None
) -> list[StoredAccount]:
    """The tenant's own, then the platform's; in a transaction of the platform only those. All vendors where None."""
    rows = await tx.fetch(
        QUERIES.find_accounts, tenant_id=_owner(tx), vendors=None if vendors is None else list(vendors)
    )
    return [_from_row(row) for row in rows]


async def find_account(tx: TenantTx | PlatformTx, account_id: str) -> StoredAccount:
    """The one with this id, of those that the caller may see; an `UnknownAccountError` where there is none."""
    for account in await find_accounts(tx):
        if account.id == account_id:
            return account
    raise UnknownAccountError(f"there is no vendor account with the id {account_id}")


def chosen(accounts: Iterable[StoredAccount]) -> dict[str, StoredAccount]:
    """The one to send through with each vendor, of accounts in the order of `find_accounts`.

    The first that is switched on; where all are off the first of those, so that whoever needs it knows why it has to wait.
    """
    found: dict[str, StoredAccount] = {}
    for account in accounts:
        known = found.get(account.vendor)
        if known is None or (account.active and not known.active):
            found[account.vendor] = account
    return found


async def insert_accounts(tx: TenantTx | PlatformTx, accounts: Sequence[StoredAccount]) -> int:
    """Write new accounts of the tenant, or of the platform."""
    return await tx.execute(
        QUERIES.insert_accounts,
        tenant_id=_owner(tx),
        ids=[a.id for a in accounts],
        vendors=[a.vendor for a in accounts],
        handles=[a.handle for a in accounts],
        secret_refs=[a.secret_ref for a in accounts],
        per_seconds=[a.per_second for a in accounts],
        per_days=[a.per_day for a in accounts],
        prices=[prices_text(a.prices) for a in accounts],
        created_ats=[time_of(a.id) for a in accounts],
    )


async def update_accounts(
    tx: TenantTx | PlatformTx, accounts: Sequence[StoredAccount], *, now: datetime, anew: bool
) -> int:
    """Write changed accounts of the tenant, or of the platform; `anew`: they may work now where they did not before."""
    return await tx.execute(
        QUERIES.update_accounts,
        tenant_id=_owner(tx),
        now=now,
        ids=[a.id for a in accounts],
        handles=[a.handle for a in accounts],
        secret_refs=[a.secret_ref for a in accounts],
        per_seconds=[a.per_second for a in accounts],
        per_days=[a.per_day for a in accounts],
        prices=[prices_text(a.prices) for a in accounts],
        actives=[a.active for a in accounts],
        anews=[anew] * len(accounts),
    )


_from_row = RowMapper(
    StoredAccount,
    [QUERIES.find_accounts],
    columns={
        "platform": "tenant_id",
        "vendor": "provider",
        "handle": "phone_number_id_or_handle",
        "per_second": "rate_limit_per_second",
        "per_day": "rate_limit_per_day",
        "prices": "pricing_model",
        "changed_at": "updated_at",
    },
    read={"platform": lambda value: value is None, "prices": read_prices},
)


def _owner(tx: TenantTx | PlatformTx) -> TenantId | None:
    return tx.tenant_id if isinstance(tx, TenantTx) else None
