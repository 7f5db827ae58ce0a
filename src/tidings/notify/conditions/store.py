"""The only Python here that runs SQL; all of it as the worker, over ids, times and counts."""

from datetime import date, datetime
from typing import NamedTuple

from tidings.kernel.db import Row, TenantsTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


class Trouble(NamedTuple):
    """What came back over a channel, or was reported."""

    tenant_id: TenantId
    channel: str
    #: `bounced` or `complaint`.
    name: str
    troubled: int
    messages: int


async def oldest_in_queue(tx: WorkerTx, *, now: datetime) -> tuple[int, float]:
    """How many messages wait that no worker has taken up, 2,000 at most, and the seconds of the oldest among them."""
    row = await tx.fetch_one(QUERIES.oldest_in_queue, now=now)
    return (0, 0.0) if row is None else (int(row["sampled"]), float(row["seconds"]))


async def trouble_of_channels(tx: WorkerTx, *, since: date, least: int) -> list[Trouble]:
    """Channels of tenants over which at least so many came back or were reported."""
    rows = await tx.fetch(QUERIES.trouble_of_channels, since=since, least=least)
    return [
        Trouble(TenantId(row["tenant_id"]), row["channel"], row["name"], row["troubled"], row["messages"])
        for row in rows
    ]


async def disabled_webhooks(tx: WorkerTx, *, since: datetime) -> list[Row]:
    """Webhooks that were disabled since then and are still."""
    return list(await tx.fetch(QUERIES.disabled_webhooks, since=since))


async def expiring_keys(tx: WorkerTx, *, now: datetime, until: datetime) -> list[Row]:
    """Keys that end until then and have no successor."""
    return list(await tx.fetch(QUERIES.expiring_keys, now=now, until=until))


async def tenants_at_work(tx: WorkerTx, *, after: str, limit: int) -> list[TenantId]:
    """The next so many tenants behind one, in order."""
    rows = await tx.fetch(QUERIES.tenants_at_work, after=after, limit=limit)
    return [TenantId(row["tenant_id"]) for row in rows]


async def unapproved_drafts(tx: TenantsTx, *, before: datetime, since: datetime) -> list[Row]:
    """Drafts of a model that were written in between and that nobody has approved."""
    return list(await tx.fetch(QUERIES.unapproved_drafts, before=before, since=since))
