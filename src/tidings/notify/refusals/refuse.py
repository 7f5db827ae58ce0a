"""A recipient says no, or yes again, from an address of theirs: kept by the address, audited in one transaction with their choice."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.ids import RecipientId
from tidings.contracts.recipients import PreferenceOptOutRecorded
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import new_event
from tidings.kernel.outbox import Outbox
from tidings.kernel.tracing import current_traceparent
from tidings.notify.ids import AddressRefusalId
from tidings.notify.refusals import store
from tidings.notify.refusals.model import ChannelAddress

_ENTITY: Final = "address_refusal"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Refuser:
    """Writes refusals, and withdraws them."""

    outbox: Outbox
    audit: AuditLog
    clock: Clock

    async def refuse(
        self,
        tx: TenantTx,
        recipient_id: RecipientId,
        places: Sequence[ChannelAddress],
        categories: Collection[str | None],
        *,
        source: str,
        evidence: str | None,
        preferences_version: int,
        announced: bool,
    ) -> None:
        """Keep that these addresses want none of these categories (None: of everything); again is once.

        `announced`: the person's own preferences changed by the same word, and `optout.recorded.v1` says so already.
        """
        wanted = [(place, category) for place in places for category in categories]
        if not wanted:
            return
        now = self.clock.now()
        fresh = await store.add_refusals(tx, wanted, source=source, evidence=evidence, now=now)
        actor = f"recipient:{recipient_id}"
        await self.audit.append(
            tx,
            [
                Entry(
                    entity_type=_ENTITY,
                    entity_id=refusal_id,
                    action="recorded",
                    actor=actor,
                    after={"channel": place.channel, "category": category, "source": source},
                )
                for refusal_id, place, category in fresh
            ],
        )
        if announced:
            return
        told = dict.fromkeys((place.channel, category) for _, place, category in fresh)
        await self.outbox.append(
            tx,
            [
                new_event(
                    "optout.recorded.v1",
                    PreferenceOptOutRecorded(
                        recipient_id=recipient_id,
                        channel=channel,
                        category=category,
                        source=source,
                        preferences_version=preferences_version,
                    ),
                    tenant_id=tx.tenant_id,
                    ordering_key=recipient_id,
                    source=NOTIFY_SOURCE,
                    clock=self.clock,
                    traceparent=current_traceparent(),
                )
                for channel, category in told
            ],
        )

    async def allow(
        self,
        tx: TenantTx,
        places: Sequence[ChannelAddress],
        categories: Collection[str],
        *,
        source: str,
        actor: str,
    ) -> None:
        """These addresses want to hear of these categories again ('' for the refusal of everything)."""
        if places and categories:
            now = self.clock.now()
            gone = await store.withdraw_refusals(tx, places, categories, source=source, now=now)
            await self._withdrawn(tx, gone, source=source, actor=actor)

    async def allow_recipient(
        self,
        tx: TenantTx,
        recipient_id: RecipientId,
        allowed: Collection[tuple[str, str]],
        *,
        source: str,
        actor: str,
    ) -> None:
        """Withdraw the refusals of all addresses of the recipient, by channel and category.

        '' as the channel means all of them, '' as the category the refusal of everything.
        """
        if allowed:
            now = self.clock.now()
            gone = await store.withdraw_of_recipient(
                tx, recipient_id, sorted(allowed), source=source, now=now
            )
            await self._withdrawn(tx, gone, source=source, actor=actor)

    async def _withdrawn(
        self, tx: TenantTx, gone: Sequence[AddressRefusalId], *, source: str, actor: str
    ) -> None:
        entries = [Entry(_ENTITY, id_, "withdrawn", actor, after={"source": source}) for id_ in gone]
        if entries:
            await self.audit.append(tx, entries)
