"""From what a vendor says over the adapter's own connection to rows: receipts, what people write, and what could not be read."""

import asyncio
from typing import Final

from tidings.contracts.callback_forms import ParsedCallback
from tidings.kernel.clock import Clock
from tidings.router.callbacks.evidence import Evidence
from tidings.router.callbacks.intake import CallbackGroupCommit, IncomingCallback
from tidings.router.callbacks.model import CallbackObserver

#: Why an unreadable request is kept; as at the hooks.
_UNREADABLE: Final = "unreadable"
#: Unreadable requests of one account that each process keeps in an hour. More than at the hooks: we are bound to the vendor's own
#: server. Bounded all the same: one with unreadable receipts alone would fill the disk.
MOST_UNREAD: Final = 100
_HOUR: Final = 3600.0


class Hearing:
    """Keeps what vendors say; one per process."""

    def __init__(
        self,
        intake: CallbackGroupCommit,
        *,
        clock: Clock,
        observer: CallbackObserver,
        most_unread: int = MOST_UNREAD,
    ) -> None:
        self._intake = intake
        self._observer = observer
        self._evidence = Evidence(clock=clock, most=most_unread, seconds=_HOUR)

    async def keep(self, said: ParsedCallback, *, vendor: str, account_id: str) -> None:
        """Keep all that can be read; durable when this returns. Where a part is not kept the vendor tells all of it again.

        What can't be read is kept up to a bound, and counted beyond it.
        """
        unread = [body for body in said.unread if self._evidence.may_keep(account_id)]
        told = [
            IncomingCallback(
                account_id=account_id, signature_valid=True, status="dlq", reason=_UNREADABLE, body=body
            )
            for body in unread
        ]
        if said.events or said.inbound:
            heard = IncomingCallback(
                account_id=account_id,
                signature_valid=True,
                status="received",
                reason=None,
                body=b"",
                events=said.events,
                inbound=said.inbound,
            )
            told.append(heard)
        try:
            # Those that come together share a transaction.
            await asyncio.gather(*(self._intake.take(vendor, one) for one in told))
        except BaseException:
            self._evidence.give_back(account_id, len(unread))
            raise
        for _ in said.unread:
            self._observer.refused(vendor, _UNREADABLE)
