"""The only Python here that runs SQL on vendor accounts."""

from collections.abc import Collection, Sequence
from datetime import datetime

from tidings.kernel.db import PlatformTx, TenantsTx, TenantTx
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.mapping import RowMapper, columns
from tidings.kernel.sql import Queries
from tidings.router.accounts.errors import UnknownAccountError
from tidings.router.accounts.model import StoredAccount
from tidings.router.prices.model import prices_text, read_prices

QUERIES = Queries.beside(__file__)


async def lock_accounts(tx: TenantTx | PlatformTx) -> None:
    """Wait for a transaction that is changing the same owner's accounts just now."""
    await tx.fetch(QUERIES.lock_accounts)


async def find_accounts(
    tx: TenantTx | PlatformTx, *, vendors: Sequence[str] | None = None
) -> list[StoredAccount]:
    """The tenant's own, then the platform's; in a transaction of the platform only those. All vendors where None."""
    rows = await tx.fetch(QUERIES.find_accounts, vendors=None if vendors is None else list(vendors))
    return [_from_row(row) for row in rows]


async def find_accounts_of_all(
    tx: TenantTx | TenantsTx, tenant_ids: Collection[TenantId]
) -> dict[TenantId, list[StoredAccount]]:
    """Of each tenant its own, then the platform's."""
    rows = await tx.fetch(QUERIES.find_accounts_of_all, tenant_ids=sorted(tenant_ids))
    shared = [_from_row(row) for row in rows if row["tenant_id"] is None]
    found: dict[TenantId, list[StoredAccount]] = {id_: [] for id_ in tenant_ids}
    for row in rows:
        if row["tenant_id"] is not None:
            found[row["tenant_id"]].append(_from_row(row))
    return {id_: [*own, *shared] for id_, own in found.items()}


async def find_account(tx: TenantTx | PlatformTx, account_id: str) -> StoredAccount:
    """The one with this id, of those that the caller may see; an `UnknownAccountError` where there is none."""
    for account in await find_accounts(tx):
        if account.id == account_id:
            return account
    raise UnknownAccountError(f"there is no vendor account with the id {account_id}")


async def insert_accounts(tx: TenantTx | PlatformTx, accounts: Sequence[StoredAccount]) -> int:
    """Write new accounts of the tenant, or of the platform."""
    return await tx.execute(
        QUERIES.insert_accounts,
        **columns(accounts, "id vendor handle secret_ref per_second per_day"),
        prices=[prices_text(a.prices) for a in accounts],
        created_ats=[time_of(a.id) for a in accounts],
    )


async def update_accounts(
    tx: TenantTx | PlatformTx, accounts: Sequence[StoredAccount], *, now: datetime, anew: bool
) -> int:
    """Write changed accounts of the tenant, or of the platform; `anew`: they may work now where they did not before."""
    return await tx.execute(
        QUERIES.update_accounts,
        now=now,
        **columns(accounts, "id handle secret_ref per_second per_day active"),
        prices=[prices_text(a.prices) for a in accounts],
        anews=[anew] * len(accounts),
    )


_from_row = RowMapper(
    StoredAccount,
    [QUERIES.find_accounts, QUERIES.find_accounts_of_all],
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
