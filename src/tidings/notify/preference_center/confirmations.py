"""Double opt-in: a consumer that asks recipients to confirm a consent that a caller recorded, by one link for each request."""

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
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.order import Order, OrderedBy, RefusedOrder
from tidings.notify.preference_center import store
from tidings.notify.preference_center.links import UnsubscribeLinks
from tidings.notify.preference_center.tokens import OptOutScope, OptOutToken, make_confirmation
from tidings.notify.recipients import preference_store
from tidings.notify.recipients.recipient_input import RecipientSpec

GROUP: Final = "notify.confirmations"
SUBJECTS: Final = ("consent.requested.v1",)
#: The platform's, unless the tenant has one of its own with this key.
TEMPLATE: Final = "confirm_subscription"

_log = get_logger("confirmations")


def handler(*, acceptor: Acceptor, keyring: Keyring, links: UnsubscribeLinks, clock: Clock) -> TenantHandler:
    """Sends one tenant's confirmations, all in one transaction."""

    async def handle(tx: TenantTx, events: Sequence[Event]) -> None:
        asked = {event.id: event.payload_as(ConsentRequested) for event in events}
        people = sorted({RecipientId(request.recipient_id) for request in asked.values()})
        known = await preference_store.load_preferences(tx, recipient_ids=people)
        pepper = await keyring.pepper(tx)
        orders: list[Order] = []
        tokens: list[OptOutToken] = []
        for event_id, request in asked.items():
            recipient_id = RecipientId(request.recipient_id)
            chosen = known.get(recipient_id)
            if chosen is None or chosen.choices.marketing_consent.pending_since != request.requested_at:
                # Confirmed, withdrawn or asked for anew meanwhile.
                continue
            scope = OptOutScope(recipient_id=recipient_id, channel="email", category=None)
            token = make_confirmation(tx.tenant_id, scope, pepper=pepper, at=request.requested_at)
            orders.append(
                Order(
                    by=OrderedBy(tx.tenant_id),
                    recipient=RecipientSpec(id=recipient_id),
                    template=TEMPLATE,
                    channel="email",
                    variables={"confirm_url": links.confirmation(token)},
                    source_event_id=event_id,
                )
            )
            tokens.append(token)
        sent: list[OptOutToken] = []
        for token, outcome in zip(tokens, await acceptor.accept_within(tx, orders), strict=True):
            if isinstance(outcome, RefusedOrder):
                recipient_id = token.scope.recipient_id
                _log.warning("confirmation_not_sent", recipient_id=recipient_id, code=outcome.error.code)
            else:
                sent.append(token)
        if sent:
            await store.insert_tokens(tx, sent, now=clock.now())

    return handle
