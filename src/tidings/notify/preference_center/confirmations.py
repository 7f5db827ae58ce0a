"""Asks people to confirm a consent that somebody told us of: a consumer that sends them a link, once for each request."""

from collections.abc import Sequence
from typing import Final

from tidings.contracts.ids import RecipientId
from tidings.contracts.recipients import ConsentRequested
from tidings.kernel.bus import TenantHandler
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import RefusalError
from tidings.notify.notifications.accept import Acceptor, Incoming, incoming
from tidings.notify.notifications.order import OrderDesk
from tidings.notify.notifications.wire import NotificationInput
from tidings.notify.preference_center import store
from tidings.notify.preference_center.links import UnsubscribeLinks
from tidings.notify.preference_center.tokens import OptOutScope, OptOutToken, make_confirmation
from tidings.notify.recipients import preferences

GROUP: Final = "notify.confirmations"
SUBJECTS: Final = ("consent.requested.v1",)
#: The platform's, unless the tenant has one of its own with this key.
TEMPLATE: Final = "confirm_subscription"

_log = get_logger("confirmations")


def handler(
    *, desk: OrderDesk, acceptor: Acceptor, keyring: Keyring, links: UnsubscribeLinks, clock: Clock
) -> TenantHandler:
    """Sends one tenant's confirmations, all in one transaction."""

    async def handle(tx: TenantTx, events: Sequence[Event]) -> None:
        asked = {event.id: event.payload_as(ConsentRequested) for event in events}
        people = sorted({RecipientId(request.recipient_id) for request in asked.values()})
        known = await preferences.load_preferences(tx, recipient_ids=people)
        pepper = await keyring.pepper(tx)
        orders: list[Incoming] = []
        tokens: list[OptOutToken] = []
        for event_id, request in asked.items():
            recipient_id = RecipientId(request.recipient_id)
            chosen = known.get(recipient_id)
            if chosen is None or chosen.choices.marketing_consent.pending_since != request.requested_at:
                # Confirmed, withdrawn or asked for anew meanwhile.
                continue
            scope = OptOutScope(recipient_id=recipient_id, channel="email", category=None)
            token = make_confirmation(tx.tenant_id, scope, pepper=pepper, at=request.requested_at)
            wish = NotificationInput(
                recipient=recipient_id,
                template=TEMPLATE,
                channel="email",
                variables={"confirm_url": links.confirmation(token)},
                source_event_id=event_id,
            )
            try:
                order = await desk.check(tx.tenant_id, wish)
            except RefusalError as error:
                _log.warning("confirmation_not_sent", recipient_id=recipient_id, code=error.code)
                continue
            orders.append(incoming(order, now=clock.now(), is_test=False))
            tokens.append(token)
        if orders:
            await store.insert_tokens(tx, tokens, now=clock.now())
            await acceptor.accept(tx, orders)

    return handle
