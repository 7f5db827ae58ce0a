"""Erases recipients whose user the identity service has deleted."""

from collections.abc import Sequence
from typing import Final

import msgspec

from tidings.contracts.erasure import USER_DELETED_SUBJECT, UserDeleted
from tidings.kernel.bus import TenantHandler
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import TidingsError
from tidings.kernel.events import Event
from tidings.notify.erasure.erase import Eraser
from tidings.notify.recipients import store
from tidings.notify.recipients.model import IdentityType
from tidings.notify.recipients.store import Lookup

#: The consumer group; its cursor and its dead letters go by this name.
GROUP: Final = "notify.erasure"
#: What it listens to.
SUBJECTS: Final = (USER_DELETED_SUBJECT,)

_decode = msgspec.json.Decoder(UserDeleted).decode


class UnreadableDeletionError(TidingsError):
    """The event does not say which user was deleted; a person has to look at it."""

    code = "unreadable_deletion"


def handler(eraser: Eraser) -> TenantHandler:
    """Applies events with this eraser; a user who is not known here, or was erased before, changes nothing."""

    async def handle(tx: TenantTx, events: Sequence[Event]) -> None:
        users = list(dict.fromkeys(_user_of(event) for event in events))
        wanted = Lookup(
            identities=[
                (place, tx.tenant_id, IdentityType.USER.value, user) for place, user in enumerate(users)
            ]
        )
        known = (await store.match_recipients(tx, wanted)).known
        # In the order of ids, as every other transaction that locks recipients.
        for recipient_id in sorted({found.recipient.id for found in known.values()}):
            await eraser.erase(tx, recipient_id, actor="system", cause=USER_DELETED_SUBJECT)

    return handle


def _user_of(event: Event) -> str:
    try:
        return _decode(event.data).user_id
    except msgspec.MsgspecError:
        # Without its words: they would quote what the event says about a person.
        raise UnreadableDeletionError(f"event {event.id} does not name a user_id") from None
