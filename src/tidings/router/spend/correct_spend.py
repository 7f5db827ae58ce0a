"""The use case "a vendor says what it takes": the difference to what was reckoned is added to the attempt's day."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import attributes
from tidings.router.spend import store
from tidings.router.spend.model import SpendEntry, day_of
from tidings.router.spend.record_spend import add
from tidings.router.spend.store import Price, Priced


class PricedReceipt(Protocol):
    """What is needed of a receipt."""

    @property
    def id(self) -> str:
        """The receipt's."""
        ...

    @property
    def attempt_id(self) -> str:
        """Which attempt it is about."""
        ...

    @property
    def attempt_started_at(self) -> datetime:
        """When that began."""
        ...

    @property
    def cost_micros(self) -> int | None:
        """What the vendor takes; None where it does not say."""
        ...

    @property
    def cost_currency(self) -> str | None:
        """In which currency."""
        ...


async def correct(tx: TenantTx, receipts: Sequence[PricedReceipt], *, stripe: int = 0) -> None:
    """In the transaction that has just written these receipts, and only with those that were not known before.

    A price that is told twice counts once; one that changes takes the place of the one before.
    """
    told = [one for one in receipts if one.cost_micros is not None and one.cost_currency is not None]
    if not told:
        return
    attempts = {one.attempt_id: one.attempt_started_at for one in told}
    await store.lock_attempts(tx, list(attempts))
    found = await store.find_prices(tx, list(attempts.items()), receipt_ids=[one.id for one in told])
    await add(tx, [row for priced in found for row in corrections(priced)], stripe=stripe)


def corrections(priced: Priced) -> Iterator[SpendEntry]:
    """What is to be added for one attempt."""
    if priced.after is None:
        return
    first = priced.before is None
    # What counted until now: the vendor's word, or else the estimate.
    until_now = priced.before or priced.estimate
    if until_now is not None:
        yield _row(priced, Price(micros=-until_now.micros, currency=until_now.currency))
    yield _row(
        priced,
        priced.after,
        # One that was not known to cost anything was not counted when it was made.
        messages=1 if first and priced.estimate is None else 0,
        corrected=1 if first else 0,
    )


def _row(priced: Priced, price: Price, *, messages: int = 0, corrected: int = 0) -> SpendEntry:
    return SpendEntry(
        day=day_of(priced.started_at),
        **attributes(priced, "channel vendor"),
        currency=price.currency,
        messages=messages,
        real=price.micros,
        corrected=corrected,
    )
