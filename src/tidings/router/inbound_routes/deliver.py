"""The use case "tell the tenant what people wrote": at least once, again and again for a day."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.retry_policy import RandomUnit
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.signed_webhooks.retry import next_attempt
from tidings.router.conversations.model import ConversationObserver
from tidings.router.inbound_routes import delivery_store
from tidings.router.inbound_routes.call import RouteCaller
from tidings.router.inbound_routes.delivery_store import Due, Tried
from tidings.router.inbound_routes.webhook_payload import letter_of

#: Calls of one tenant side by side: one with a webhook that hangs must not take all connections.
_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class _Ready:
    due: Due
    url: str = field(repr=False)
    secret_ref: str = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Deliverer:
    """Calls webhooks; no transaction is open meanwhile."""

    db: Database
    caller: RouteCaller
    _: KW_ONLY
    keyring: Keyring
    clock: Clock
    observer: ConversationObserver = ConversationObserver()
    jitter: RandomUnit = random.random

    async def deliver(self, tenant_id: TenantId, worker: str, ids: Sequence[str]) -> None:
        """Tell what was claimed, and write what became of each."""
        ready, given_up = await self._load(tenant_id, worker, ids)
        turns = asyncio.Semaphore(_AT_ONCE)

        async def tell(one: _Ready) -> Tried:
            async with turns:
                return await self._tell(tenant_id, one)

        tried = [*given_up, *await asyncio.gather(*map(tell, ready))]
        if not tried:
            return
        async with self.db.tenant(tenant_id) as tx:
            written = await delivery_store.end_deliveries(tx, tried, worker=worker, now=self.clock.now())
        words = Counter("again" if t.status == "pending" else t.status for t in tried if t.id in written)
        for word, count in words.items():
            self.observer.delivered(word, count)

    async def _load(
        self, tenant_id: TenantId, worker: str, ids: Sequence[str]
    ) -> tuple[list[_Ready], list[Tried]]:
        """What can be told, and what never can."""
        async with self.db.tenant(tenant_id) as tx:
            found = await delivery_store.load_deliveries(tx, ids, worker=worker, now=self.clock.now())
            subjects = {s for due in found for s in (due.key_subject, due.address_subject) if s is not None}
            keys = await self.keyring.data_keys(tx, subjects, create=False) if subjects else {}
        ready: list[_Ready] = []
        given_up: list[Tried] = []
        for due in found:
            body = letter_of(due, keys)
            if due.webhook_url is None or due.secret_ref is None:
                given_up.append(Tried(id=due.id, status="dead", reason="route_gone"))
            elif body is None:
                given_up.append(Tried(id=due.id, status="dead", reason="erased"))
            else:
                ready.append(_Ready(due, due.webhook_url, due.secret_ref, body))
        return ready, given_up

    async def _tell(self, tenant_id: TenantId, one: _Ready) -> Tried:
        due = one.due
        called = await self.caller.call(
            tenant_id, url=one.url, secret_ref=one.secret_ref, webhook_id=due.id, body=one.body
        )
        if called.delivered:
            return Tried(id=due.id, status="delivered", answer=called.status)
        next_at = next_attempt(called, due.attempts + 1, now=self.clock.now(), chance=self.jitter())
        if next_at is None:
            return Tried(id=due.id, status="dead", answer=called.status, reason=called.reason)
        return Tried(id=due.id, status="pending", next_at=next_at, answer=called.status, reason=called.reason)
