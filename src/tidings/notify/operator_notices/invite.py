"""Makes an order of an invitation to the console."""

import math
from datetime import timedelta

from tidings.contracts.operator_notices import INVITATION, InvitationMail
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import RefusalError
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.order import Order, OrderedBy, RefusedOrder
from tidings.notify.operator_notices.recipient import recipient_of_operator

_log = get_logger("operator_notices")


class AcceptedInvitations:
    """Through the way in that every message takes."""

    def __init__(self, acceptor: Acceptor, clock: Clock) -> None:
        self._acceptor = acceptor
        self._clock = clock

    async def send(self, tx: TenantTx, mail: InvitationMail) -> bool:
        """Accept it in the transaction; one that can't be sent takes no invitation back."""
        left = mail.expires_at - self._clock.now()
        try:
            order = Order(
                by=OrderedBy(tx.tenant_id),
                recipient=recipient_of_operator(
                    mail.operator_id, name=mail.name, email=mail.email, language=mail.language
                ),
                template=INVITATION,
                channel="email",
                variables={
                    "inviter": mail.inviter,
                    "join_url": mail.join_url,
                    "valid_hours": max(1, math.floor(left / timedelta(hours=1))),
                },
                expires_at=mail.expires_at,
            )
            outcome = (await self._acceptor.accept_within(tx, [order]))[0]
        except RefusalError as error:
            _log.warning("invitation_not_mailed", operator_id=mail.operator_id, code=error.code)
            return False
        if isinstance(outcome, RefusedOrder):
            _log.warning("invitation_not_mailed", operator_id=mail.operator_id, code=outcome.error.code)
            return False
        return True
