"""Makes orders of notices to operators: the recipient is made, or brought up to date, with the order."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from tidings.contracts.operator_notices import TEMPLATE, OperatorNotice
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import RefusalError
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.order import Order, OrderedBy, RefusedOrder
from tidings.notify.operator_notices.recipient import recipient_of_operator

#: A message about an outage that is over by then helps nobody, and would come in a flood when a vendor is back.
_LASTS: Final = timedelta(hours=1)

_log = get_logger("operator_notices")


class AcceptedNotices:
    """Through the way in that every message takes."""

    def __init__(self, acceptor: Acceptor, clock: Clock) -> None:
        self._acceptor = acceptor
        self._clock = clock

    async def send(self, tx: TenantTx, notices: Sequence[OperatorNotice]) -> list[bool]:
        """Accept them in the transaction; one that is refused keeps no other."""
        orders: list[tuple[int, Order]] = []
        for place, notice in enumerate(notices):
            try:
                orders.append((place, self._order(tx, notice)))
            except RefusalError as error:
                _log.warning("operator_not_told", operator_id=notice.operator_id, code=error.code)
        sent = [False] * len(notices)
        outcomes = await self._acceptor.accept_within(tx, [order for _, order in orders])
        for (place, _), outcome in zip(orders, outcomes, strict=True):
            if isinstance(outcome, RefusedOrder):
                operator_id = notices[place].operator_id
                _log.warning("operator_not_told", operator_id=operator_id, code=outcome.error.code)
            else:
                sent[place] = True
        return sent

    def _order(self, tx: TenantTx, notice: OperatorNotice) -> Order:
        return Order(
            by=OrderedBy(tx.tenant_id),
            recipient=recipient_of_operator(
                notice.operator_id,
                name=notice.name,
                email=notice.email,
                language=notice.language,
                phone=notice.phone,
            ),
            template=TEMPLATE,
            variables={
                "title": notice.title,
                "more": notice.more,
                "alerts_url": notice.url,
            },
            priority="critical" if notice.severity == "critical" else None,
            expires_at=self._clock.now() + _LASTS,
            source_event_id=notice.key,
            source_event_type="backoffice.alert.raised.v1",
        )
