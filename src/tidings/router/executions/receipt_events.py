"""Announces receipts that concern more than their execution: what they mean for an address, that something was read, that a
message is lost which counts as delivered."""

from collections.abc import Container, Sequence
from datetime import datetime
from typing import Final

import msgspec

from tidings.contracts.events import ROUTER_SOURCE
from tidings.contracts.receipts import LOST, RECEIPT_SUBJECT, TOLD, ReceiptTold
from tidings.kernel.db import Row, TenantTx
from tidings.kernel.events import Event
from tidings.kernel.ids import EVENT, TenantId, time_of
from tidings.kernel.mapping import by_name, columns
from tidings.kernel.outbox import Outbox
from tidings.kernel.sql import Queries
from tidings.router.receipts import ARRIVED, Receipt

QUERIES = Queries.beside(__file__)

_OUTBOX: Final = Outbox("chan")

_encode = msgspec.json.Encoder().encode


async def announce(tx: TenantTx, receipts: Sequence[Receipt], *, over: Container[str], now: datetime) -> None:
    """Those that were just written, in the transaction that wrote them: each is told once. `over`: those of executions that are over."""
    wanted = [
        one
        for one in receipts
        if one.status in TOLD or one.effect is not None or (one.status in LOST and one.id in over)
    ]
    if not wanted:
        return
    rows = await tx.fetch(
        QUERIES.find_told,
        **columns(wanted, "attempt_id attempt_started_at execution_id"),
        execution_started_ats=[time_of(one.execution_id) for one in wanted],
        losts=[one.status in LOST for one in wanted],
        arrived=list(ARRIVED),
    )
    found: dict[str, Row] = {}
    for made in rows:
        # Of an attempt that is told of twice the row of what was lost knows it.
        if made["attempt_id"] not in found or made["arrived"]:
            found[made["attempt_id"]] = made
    told = [
        by_name(
            ReceiptTold,
            one,
            notification_id=row["notification_id"],
            recipient_id=row["recipient_id"],
            attempted_at=one.attempt_started_at,
            channel=row["channel"],
            vendor=row["provider"],
            recorded_at=now,
            code=one.provider_code,
            arrived=one.status in LOST and row["arrived"],
        )
        for one in wanted
        if (row := found.get(one.attempt_id)) is not None
    ]
    await _OUTBOX.append(tx, [_event(tx.tenant_id, one, now) for one in told])


def _event(tenant_id: TenantId, told: ReceiptTold, now: datetime) -> Event:
    return Event(
        id=EVENT.new(now),
        tenant_id=tenant_id,
        subject=RECEIPT_SUBJECT,
        ordering_key=told.notification_id,
        data=_encode(told).decode(),
        source=ROUTER_SOURCE,
    )
