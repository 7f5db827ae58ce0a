"""A tenant whose messages are told of afterwards: notifications by hand, outcomes and receipts as the router tells them."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.clock import ManualClock
from tests.support.people import PeopleWorld, rows, unused
from tidings.contracts.delivery import OUTCOME_SUBJECT, AttemptTold, DeliveryOutcome
from tidings.contracts.ids import NOTIFICATION, NotificationId, RecipientId
from tidings.contracts.receipts import RECEIPT_SUBJECT, ReceiptTold
from tidings.kernel.bus import TenantHandler
from tidings.kernel.db import Database
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId, time_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message that was handed over."""

    id: NotificationId
    tenant_id: TenantId
    recipient_id: RecipientId
    channel: str = "email"

    @property
    def attempt_id(self) -> str:
        """Its first attempt in the router."""
        return f"attempt_{self.id[-26:]}"


class ReceiptsWorld(PeopleWorld):
    """Consumers that are called by hand, over the shared database."""

    def __init__(self, db: Database, folder: Path, clock: ManualClock) -> None:
        super().__init__(db, folder, clock)
        self.clock = clock
        self._outcome = self.system.consumers.on_outcomes
        self._receipt = self.system.consumers.on_receipts

    async def somebody(self, tenant_id: TenantId, channel: str = "email") -> RecipientId:
        """A recipient with an address that nobody else has."""
        address = f"{unused()}@example.test" if channel == "email" else "+93701234567"
        return await self.recipient(tenant_id, (channel, address))

    async def address_of(
        self, tenant_id: TenantId, recipient_id: RecipientId, channel: str = "email"
    ) -> dict[str, Any]:
        """The row of the address that is written to."""
        query = (
            "SELECT id, address_hash FROM notification.recipient_addresses "
            "WHERE recipient_id = $1 AND channel = $2 ORDER BY is_primary DESC"
        )
        return (await rows(self.db, tenant_id, query, recipient_id, channel))[0]

    async def sent(
        self,
        tenant_id: TenantId,
        recipient_id: RecipientId,
        *,
        channel: str = "email",
        is_test: bool = False,
        to: str | None = "",
    ) -> Sent:
        """A notification that was handed over just now, to their first address unless `to` names another (None: nothing is kept)."""
        id_ = NOTIFICATION.new(self.clock.now())
        if to == "":
            to = (await self.address_of(tenant_id, recipient_id, channel))["id"]
        kept = '{"locale":"en","time_zone":"UTC","direction":"ltr","digest":"x","bytes":1'
        kept += "}" if to is None else f',"to":{{"{channel}":"{to}"}}}}'
        async with self.db.tenant(tenant_id) as tx:
            await tx.connection.execute(
                "INSERT INTO notification.notifications (tenant_id, id, retention_class, created_at, expires_at, status, "
                "channel, category, use_case, recipient_id, template_id, template_version_id, template_key, "
                "template_semver, variables_hash, is_test, render_snapshot) "
                "VALUES ($1, $2, 'standard', $3, $4, 'dispatched', $5, 'transactional', 'txn', $6, 'tpl_x', 'tpv_x', 'k', "
                "'1.0.0', 'h', $7, $8)",
                tenant_id,
                id_,
                time_of(id_),
                self.clock.now() + timedelta(days=1),
                channel,
                recipient_id,
                is_test,
                kept,
            )
        return Sent(id=id_, tenant_id=tenant_id, recipient_id=recipient_id, channel=channel)

    def attempted(self, sent: Sent, **changes: Any) -> AttemptTold:
        """The attempt as the outcome tells of it."""
        at = time_of(sent.id)
        told: dict[str, Any] = {
            "id": sent.attempt_id,
            "step": 1,
            "channel": sent.channel,
            "vendor": "smtp",
            "status": "accepted",
            "started_at": at,
            "ended_at": at,
        }
        return AttemptTold(**told | changes)

    def outcome(self, sent: Sent, *attempts: AttemptTold, **changes: Any) -> Event:
        """Its outcome: delivered by its one attempt, unless it is said otherwise."""
        told: dict[str, Any] = {
            "notification_id": sent.id,
            "recipient_id": sent.recipient_id,
            "execution_id": f"exec_{sent.id[-26:]}",
            "result": "DELIVERED",
            "ended_at": time_of(sent.id),
            "evidence": "accepted",
            "final_channel": sent.channel,
            "attempts": attempts or (self.attempted(sent),),
        }
        return self._event(OUTCOME_SUBJECT, sent, DeliveryOutcome(**told | changes))

    def receipt(self, sent: Sent, status: str, effect: str | None = None, **changes: Any) -> Event:
        """What its vendor says of it now."""
        now = self.clock.now()
        told: dict[str, Any] = {
            "notification_id": sent.id,
            "recipient_id": sent.recipient_id,
            "execution_id": f"exec_{sent.id[-26:]}",
            "attempt_id": sent.attempt_id,
            "attempted_at": time_of(sent.id),
            "channel": sent.channel,
            "vendor": "smtp",
            "status": status,
            "effect": effect,
            "recorded_at": now,
            "code": "5.1.1" if effect else None,
        }
        return self._event(RECEIPT_SUBJECT, sent, ReceiptTold(**told | changes))

    async def hear(self, tenant_id: TenantId, events: Sequence[Event]) -> None:
        """Have them consumed, one set after another, in this order."""
        for event in events:
            async with self.db.tenant(tenant_id, by_index=True) as tx:
                await self.handler_of(event)(tx, [event])

    def handler_of(self, event: Event) -> TenantHandler:
        """Whoever consumes it."""
        return self._outcome if event.subject == OUTCOME_SUBJECT else self._receipt

    async def hear_set(self, tenant_id: TenantId, events: Sequence[Event]) -> None:
        """Have receipts consumed as one set."""
        async with self.db.tenant(tenant_id, by_index=True) as tx:
            await self._receipt(tx, events)

    async def status(self, sent: Sent) -> str:
        """Where it stands."""
        query = "SELECT status FROM notification.notifications WHERE id = $1 AND created_at = $2"
        return str((await rows(self.db, sent.tenant_id, query, sent.id, time_of(sent.id)))[0]["status"])

    async def suppressed(self, tenant_id: TenantId) -> list[tuple[str, str, str | None, datetime | None]]:
        """Channel, reason, source and end of what is in force."""
        query = (
            "SELECT channel, reason, source_notification_id, expires_at FROM notification.suppressions "
            "WHERE released_at IS NULL ORDER BY id"
        )
        return [tuple(row.values()) for row in await rows(self.db, tenant_id, query)]

    def _event(self, subject: str, sent: Sent, told: Any) -> Event:
        return new_event(
            subject,
            told,
            tenant_id=sent.tenant_id,
            ordering_key=sent.id,
            source="/tidings/router",
            clock=self.clock,
        )


def again(event: Event) -> Event:
    """The same event, told once more."""
    return copy(event)
