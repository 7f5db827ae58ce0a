"""From what a vendor says over the adapter's own connection to rows: receipts, what people write, and what nobody could read."""

import asyncio
from typing import Final

from tidings.contracts.callback_forms import Reading
from tidings.router.callbacks.intake import Incoming, Intake
from tidings.router.callbacks.model import Observer

#: Why a request is kept that nobody could read; as at the hooks.
_UNREADABLE: Final = "unreadable"


async def keep_said(
    intake: Intake, said: Reading, *, vendor: str, account_id: str, observer: Observer
) -> None:
    """Keep all of it; durable when this returns. Where a part is not kept the vendor tells all of it again.

    All that can't be read is kept, and not a few a minute as at the hooks: who is bound to the vendor's server knows who speaks.
    """
    told = [
        Incoming(account_id=account_id, signature_valid=True, status="dlq", reason=_UNREADABLE, body=body)
        for body in said.unread
    ]
    if said.events or said.inbound:
        heard = Incoming(
            account_id=account_id,
            signature_valid=True,
            status="received",
            reason=None,
            body=b"",
            events=said.events,
            inbound=said.inbound,
        )
        told.append(heard)
    # Those that come together share a transaction.
    await asyncio.gather(*(intake.take(vendor, one) for one in told))
    for _ in said.unread:
        observer.refused(vendor, _UNREADABLE)
