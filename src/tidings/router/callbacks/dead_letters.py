"""Events that never found their attempt: look at them, read what came with them, requeue them.

What an operator orders is in the platform's audit before it is done.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx
from tidings.kernel.durable.dead_letters import MOST_AT_ONCE, DeadLetters
from tidings.kernel.ids import time_of
from tidings.kernel.keys.keyring import Keyring
from tidings.router.callbacks import raw_bodies, store
from tidings.router.callbacks.errors import CallbackNotFoundError, CallbackRequestNotFoundError
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE, BodyLocation
from tidings.router.callbacks.retry_policy import OLDEST_ATTEMPT
from tidings.router.callbacks.store import OpenEvent
from tidings.router.ids import InboundWebhookEventId, InboundWebhookId

_ENTITY: Final = "callback"


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """What came of an order to look again."""

    ids: list[InboundWebhookEventId]
    #: Dead ones that came too long ago to be looked for; counted up to `MOST_AT_ONCE`.
    too_old: int


class DeadCallbacks:
    """What operators do with callbacks that have no tenant."""

    def __init__(self, *, audit: AuditLog, keyring: Keyring, clock: Clock) -> None:
        self._audit = audit
        self._keyring = keyring
        self._clock = clock
        self._letters = DeadLetters[InboundWebhookEventId](
            store.QUERIES.requeue_events, entity_type=_ENTITY, status="dlq", audit=audit, clock=clock
        )

    async def show(self, tx: PlatformTx, event_id: InboundWebhookEventId) -> OpenEvent:
        """One event; a `CallbackNotFoundError` where none without a tenant has this id."""
        found = await store.show_event(tx, event_id=event_id, received_at=time_of(event_id))
        if found is None:
            raise CallbackNotFoundError
        return found[0]

    async def body_of_event(
        self, tx: PlatformTx, blobs: BlobStore, event_id: InboundWebhookEventId, *, actor: str
    ) -> bytes:
        """The raw body of the request that brought it; that it was read is on record."""
        found = await store.show_event(tx, event_id=event_id, received_at=time_of(event_id))
        if found is None or found[1] is None:
            raise CallbackNotFoundError
        return await self._body(tx, blobs, event_id, found[1], actor)

    async def body_of_request(
        self, tx: PlatformTx, blobs: BlobStore, request_id: InboundWebhookId, *, actor: str
    ) -> bytes:
        """The raw body of a request; that it was read is on record."""
        found = await store.show_request(tx, request_id=request_id, received_at=time_of(request_id))
        if found is None:
            raise CallbackRequestNotFoundError
        return await self._body(tx, blobs, request_id, found.body, actor)

    async def requeue(
        self,
        tx: PlatformTx,
        *,
        actor: str,
        ids: Sequence[InboundWebhookEventId] | None = None,
        vendor: str | None = None,
        since: datetime | None = None,
    ) -> Again:
        """Look for their attempts again, for at most `MOST_AT_ONCE`, as long as attempts are looked for at all."""
        chosen = {
            "ids": None if ids is None else list(ids),
            "vendor": vendor,
            "since": since,
            "oldest": self._clock.now() - OLDEST_ATTEMPT,
        }
        again = await self._letters.requeue(tx, actor=actor, **chosen)
        too_old: int = await tx.fetch_value(store.QUERIES.count_too_old, limit=MOST_AT_ONCE, **chosen)
        return Again(ids=again, too_old=too_old)

    async def _body(
        self, tx: PlatformTx, blobs: BlobStore, entity_id: str, place: BodyLocation, actor: str
    ) -> bytes:
        key = await self._keyring.platform_key(tx, PLATFORM_PURPOSE)
        body = await raw_bodies.read(blobs, key, place)
        await self._audit.append(
            tx, [Entry(entity_type=_ENTITY, entity_id=entity_id, action="body.read", actor=actor)]
        )
        return body
