"""The use case "this code has got a meaning": receipts that were kept as unknown are told with it.

A receipt is never changed. Another one follows from it, with its moment, and an id that comes out of its own and of what it means:
doing it again changes nothing, and another meaning is told once more.
"""

import hashlib
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from typing import Final

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import by_name
from tidings.router.ids import INBOUND_WEBHOOK_EVENT, InboundWebhookEventId
from tidings.router.receipts import ApplyReceipts, Receipt
from tidings.router.status_map import store
from tidings.router.status_map.store import UnknownReceipt

#: Attempts are found again for so long.
REACH: Final = timedelta(days=35)
#: Receipts in one transaction.
_SET: Final = 500
#: Receipts in one go, after which the caller hears that there is more.
_MOST: Final = 5000
#: Tenants that are looked up at once.
_TENANTS: Final = 100

#: Crockford's alphabet.
_LETTERS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TIME_LETTERS: Final = 10
_OTHER_LETTERS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Reapplied:
    """How far it went."""

    #: Receipts that were told; in a dry run those that would be.
    reapplied: int
    #: There are more: ask again.
    more: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reapplier:
    """Tells receipts again, set by set."""

    db: Database
    apply: ApplyReceipts
    _: KW_ONLY
    #: Of the schema `chan`.
    audit: AuditLog
    clock: Clock
    on_woken: Callable[[datetime], None]
    most: int = _MOST
    set_size: int = _SET

    async def count(
        self, tenant_id: TenantId, adapter: str, code: str, *, most: int | None = None
    ) -> Reapplied:
        """How many receipts of a tenant would be told; nothing is written."""
        most = self.most if most is None else most
        async with self.db.tenant(tenant_id) as tx:
            found = await store.find_unknown_receipts(
                tx, adapter=adapter, code=code, since=self._since(), limit=most + 1
            )
        return Reapplied(reapplied=min(len(found), most), more=len(found) > most)

    async def reapply(
        self, tenant_id: TenantId, adapter: str, code: str, *, actor: str, most: int | None = None
    ) -> Reapplied:
        """Tell receipts of a tenant; what was told stays, whatever happens to the next set."""
        most = self.most if most is None else most
        told, more = 0, True
        while more and told < most:
            count, more = await self._some(tenant_id, adapter, code, min(self.set_size, most - told), actor)
            told += count
            if not count:
                break
        return Reapplied(reapplied=told, more=more)

    async def everywhere(self, adapter: str, code: str, *, actor: str, dry_run: bool) -> Reapplied:
        """The same for all tenants that were told the code."""
        told = 0
        after: TenantId | None = None
        while True:
            async with self.db.platform() as tx:
                tenants = await store.tenants_with_unknown(
                    tx, adapter=adapter, code=code, since=self._since(), after=after, limit=_TENANTS
                )
            for tenant_id in tenants:
                left = self.most - told
                if left <= 0:
                    return Reapplied(reapplied=told, more=True)
                done = (
                    await self.count(tenant_id, adapter, code, most=left)
                    if dry_run
                    else await self.reapply(tenant_id, adapter, code, actor=actor, most=left)
                )
                told += done.reapplied
                if done.more:
                    return Reapplied(reapplied=told, more=True)
            if len(tenants) < _TENANTS:
                return Reapplied(reapplied=told, more=False)
            after = tenants[-1]

    async def _some(
        self, tenant_id: TenantId, adapter: str, code: str, limit: int, actor: str
    ) -> tuple[int, bool]:
        """One set: how many were told, and whether there are others."""
        now = self.clock.now()
        async with self.db.tenant(tenant_id) as tx:
            found = await store.find_unknown_receipts(
                tx, adapter=adapter, code=code, since=self._since(), limit=limit + 1
            )
            some = found[:limit]
            if not some:
                return 0, False
            applied = await self.apply(tx, [_receipt(one) for one in some], now=now)
            entry = Entry(
                entity_type="status_map",
                entity_id=f"{adapter}/{code}",
                action="reapplied",
                actor=actor,
                after={"receipts": len(applied.fresh)},
            )
            await self.audit.append(tx, [entry])
        if applied.woken:
            self.on_woken(now)
        return len(applied.fresh), len(found) > limit

    def _since(self) -> datetime:
        return self.clock.now() - REACH


def follower_of(receipt_id: str, *, canonical: str, reason: str) -> InboundWebhookEventId:
    """The id of the receipt that follows from one with this meaning: with its time, and always the same."""
    ulid = receipt_id[-(_TIME_LETTERS + _OTHER_LETTERS) :]
    digest = hashlib.blake2b(f"{receipt_id} {canonical} {reason}".encode(), digest_size=10).digest()
    number = int.from_bytes(digest, "big")
    rest = "".join(_LETTERS[number >> 5 * place & 31] for place in reversed(range(_OTHER_LETTERS)))
    return INBOUND_WEBHOOK_EVENT.parse(f"{INBOUND_WEBHOOK_EVENT.prefix}_{ulid[:_TIME_LETTERS]}{rest}")


def _receipt(waiting: UnknownReceipt) -> Receipt:
    """What the vendor says it takes stays with the first one, and is not counted again."""
    means = waiting.means
    return by_name(
        Receipt,
        waiting,
        id=follower_of(waiting.id, canonical=means.canonical, reason=means.reason),
        status=means.canonical,
        provider_code=waiting.code,
        reason=means.reason,
        effect=means.effect,
        cost_micros=None,
        cost_currency=None,
    )
