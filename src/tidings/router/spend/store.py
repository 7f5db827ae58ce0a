"""The only Python here that runs SQL on what was spent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper, columns
from tidings.kernel.sql import Queries
from tidings.router.spend.model import By, SpendEntry, SpendSum, UnpricedCalls

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """An amount in a currency."""

    micros: int
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """An attempt with all that is known of its price."""

    attempt_id: str
    started_at: datetime
    channel: str
    vendor: str
    #: By the price list; None where it was not known to cost anything.
    estimate: Price | None
    #: What the vendor had said before.
    before: Price | None
    #: What it says now.
    after: Price | None


async def add_spent(
    tx: TenantTx | TenantsTx, rows: Sequence[tuple[TenantId, SpendEntry]], *, stripe: int
) -> None:
    """Add a set, each tenant, day, channel, vendor and currency once."""
    await tx.execute(
        QUERIES.add_spent,
        stripe=stripe,
        tenant_ids=[tenant_id for tenant_id, _ in rows],
        **columns(
            [entry for _, entry in rows], "day channel vendor currency messages estimated real corrected"
        ),
    )


async def sum_spent(tx: TenantTx, *, since: date, until: date, by: By) -> list[SpendSum]:
    """From one day to another, both counted."""
    rows = await tx.fetch(QUERIES.sum_spent, since=since, until=until, by=by)
    return [_sum(row) for row in rows]


async def count_unpriced(tx: TenantTx, *, since: date, until: date, by: By, most: int) -> list[UnpricedCalls]:
    """Calls of these days that are not known to have cost anything; at most so many are counted."""
    rows = await tx.fetch(QUERIES.count_unpriced, since=since, until=until, by=by, most=most)
    return [_unpriced(row) for row in rows]


async def costs_of_messages(tx: TenantTx, *, since: date, until: date, most: int) -> list[tuple[str, Price]]:
    """Notifications of these days that are over, with what each has cost; the newest, so many at most."""
    rows = await tx.fetch(QUERIES.costs_of_messages, since=since, until=until, most=most)
    return [(row["notification_id"], Price(micros=row["micros"], currency=row["currency"])) for row in rows]


async def lock_attempts(tx: TenantTx, attempt_ids: Sequence[str]) -> None:
    """No other transaction corrects these until `tx` ends."""
    await tx.fetch(QUERIES.lock_attempts, attempt_ids=sorted(set(attempt_ids)))


async def find_prices(
    tx: TenantTx, attempts: Sequence[tuple[str, datetime]], *, receipt_ids: Sequence[str]
) -> list[Priced]:
    """Attempts, given as id and start, with their prices before those receipts and with them."""
    rows = await tx.fetch(
        QUERIES.find_prices,
        attempt_ids=[attempt_id for attempt_id, _ in attempts],
        attempt_started_ats=[started_at for _, started_at in attempts],
        ids=list(receipt_ids),
    )
    return [
        Priced(
            attempt_id=row["id"],
            started_at=row["started_at"],
            channel=row["channel"],
            vendor=row["provider"],
            estimate=_price(row["estimated"] or None, row["cost_currency"]),
            before=_price(row["before_micros"], row["before_currency"]),
            after=_price(row["after_micros"], row["after_currency"]),
        )
        for row in rows
    ]


def _price(micros: int | None, currency: str | None) -> Price | None:
    return None if micros is None or currency is None else Price(micros=micros, currency=currency)


_sum = RowMapper(SpendSum, [QUERIES.sum_spent])
_unpriced = RowMapper(UnpricedCalls, [QUERIES.count_unpriced])
