"""Whether vendors take messages, and what they report is taken in."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from tidings.contracts.conditions import Condition, Figure, Look
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, Row
from tidings.router.conditions import store
from tidings.router.conversations.model import INBOUND_MESSAGE

#: Seconds of the oldest event: from when on it is a warning, from when on critical, below which it is well.
_WARNING: Final = 60.0
_CRITICAL: Final = 900.0
_WELL: Final = 20.0
_DAY: Final = timedelta(days=1)


class VendorConditions:
    """Circuits by account, receipts and inbound messages of all."""

    name = "vendors"
    every = timedelta(seconds=20)

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def look(self) -> Look:
        """Four statements, each by an index or over few rows."""
        now = self._clock.now()
        async with self._db.worker() as tx:
            circuits = await store.circuits_not_closed(tx)
            seconds = await store.oldest_receipt(tx, now=now)
            receipts = await store.dead_receipts(tx, since=now - _DAY)
            inbound = await store.dead_inbound(tx, since=INBOUND_MESSAGE.new(now - _DAY))
        return Look(
            conditions=[
                *map(_circuit, circuits),
                *_waiting(seconds),
                *_dead("receipts", receipts),
                *_dead("inbound", inbound),
            ],
            figures=[
                Figure(name="circuits_not_closed", value=len(circuits)),
                Figure(name="receipts_seconds", value=int(seconds)),
                Figure(name="dead_receipts", value=receipts),
                Figure(name="dead_inbound", value=inbound),
            ],
        )


def _circuit(row: Row) -> Condition:
    # Half open is on its way back: the alert stays until all of its traffic goes through.
    held = bool(row["circuit_held"])
    return Condition(
        category="circuit_open",
        about=row["id"],
        severity="warning" if held else "critical",
        tenant_id=row["tenant_id"],
        facts={"account_id": row["id"], "vendor": row["provider"], "held": int(held)},
        is_fading=row["circuit_state"] != "OPEN",
    )


def _waiting(seconds: float) -> Iterator[Condition]:
    if seconds >= _WELL:
        yield Condition(
            category="receipts_waiting",
            about="all",
            severity="critical" if seconds >= _CRITICAL else "warning",
            tenant_id=None,
            facts={"seconds": int(seconds)},
            is_fading=seconds < _WARNING,
        )


def _dead(kind: str, count: int) -> Iterator[Condition]:
    if count:
        yield Condition(
            category="dead_letters",
            about=kind,
            severity="warning",
            tenant_id=None,
            facts={"kind": kind, "count": count},
        )
