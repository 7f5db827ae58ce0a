"""Hears from the router what vendors say afterwards: a consumer of its receipts, in sets, tenant by tenant in one transaction."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tidings.contracts.callback_forms import Canonical
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.receipts import LOST, RECEIPT_SUBJECT, ReceiptTold
from tidings.kernel.bus import TenantHandler
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event
from tidings.kernel.mapping import by_name
from tidings.kernel.outbox import Outbox
from tidings.notify.ids import DELIVERY_ATTEMPT
from tidings.notify.receipts import store
from tidings.notify.receipts.address_effects import AddressEffects, EffectReport
from tidings.notify.receipts.bounces import Bounces
from tidings.notify.receipts.engagement import Engagements
from tidings.notify.receipts.model import Bounce, Engagement, LogLine, Seen, Subject

GROUP: Final = "notify.receipts"
SUBJECTS: Final = (RECEIPT_SUBJECT,)

#: What a vendor says → the word in notify's own log. What is not in the status map is kept by the router.
_OUTCOMES: Final[dict[Canonical, str]] = {
    "accepted": "accepted",
    "sent": "accepted",
    "delivered": "delivered",
    "delivered_read": "delivered",
    "failed_temp": "rejected_retryable",
    "failed_perm": "rejected_terminal",
    "rejected_by_provider": "rejected_terminal",
    "rejected_by_recipient": "rejected_terminal",
    "timed_out": "timeout",
    "cancelled": "failed",
    "bounced": "bounced",
    "complaint": "complaint",
    "opened": "opened",
    "clicked": "clicked",
}
_ENGAGEMENTS: Final[dict[Canonical, Engagement]] = {
    "delivered_read": "read",
    "opened": "opened",
    "clicked": "clicked",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """A receipt, and the line of the log that it becomes."""

    line_id: str
    told: ReceiptTold

    @property
    def notification_id(self) -> NotificationId:
        return NotificationId(self.told.notification_id)

    @property
    def at(self) -> datetime:
        """As the vendor says; a clock of theirs that is ahead counts no further than ours."""
        said = self.told.occurred_at
        return self.told.recorded_at if said is None else min(said, self.told.recorded_at)


def handler(*, outbox: Outbox, effects: AddressEffects, clock: Clock, stripe: int = 0) -> TenantHandler:
    """Applies one tenant's receipts, all in one transaction. Told again or in another order, they come to the same."""
    engagements = Engagements(outbox=outbox, clock=clock, stripe=stripe)
    bounces = Bounces(outbox=outbox, clock=clock, stripe=stripe)

    async def apply(tx: TenantTx, events: Sequence[Event]) -> None:
        heard = [_Heard(line_id=_line_id(event), told=event.payload_as(ReceiptTold)) for event in events]
        readers = {one.notification_id: RecipientId(one.told.recipient_id) for one in heard}
        subjects = await store.lock_subjects(tx, readers)
        known = [one for one in heard if _concerns(one, subjects.get(one.notification_id))]
        written = await store.write_log(tx, [_line(one) for one in known if one.told.status in _OUTCOMES])
        # What is not in the status map has no line; its effect is the same however often it is applied.
        fresh = [one for one in known if one.line_id in written or one.told.status not in _OUTCOMES]
        # Before bounces: what was lost was not read.
        await engagements.note(tx, subjects, [_seen(one) for one in fresh if one.told.status in _ENGAGEMENTS])
        await bounces.heard(tx, subjects, [_bounce(one) for one in fresh if _came_back(one.told)])
        complaints = Counter(
            ("complaint", subject.channel, subject.category)
            for one in fresh
            if one.told.status == "complaint"
            for subject in [subjects[one.notification_id]]
        )
        await store.count(tx, complaints, now=clock.now(), stripe=stripe)
        await effects.apply(tx, [told for one in fresh if (told := _effect(one)) is not None])

    return apply


def _concerns(heard: _Heard, subject: Subject | None) -> bool:
    """There is such a notification; and of a recipient who was erased only what the message came to is kept."""
    return subject is not None and not (subject.erased and heard.told.status in _ENGAGEMENTS)


def _line_id(event: Event) -> str:
    """The event's own, under another name: the same when it is told again."""
    return f"{DELIVERY_ATTEMPT.prefix}_{event.id[-26:]}"


def _line(heard: _Heard) -> LogLine:
    told = heard.told
    return by_name(
        LogLine,
        told,
        id=heard.line_id,
        notification_id=heard.notification_id,
        outcome=_OUTCOMES[told.status],
        code=told.code or told.effect,
        heard_at=told.recorded_at,
    )


def _came_back(told: ReceiptTold) -> bool:
    return told.status == "bounced" or (told.status in LOST and not told.arrived)


def _bounce(heard: _Heard) -> Bounce:
    return Bounce(
        notification_id=heard.notification_id,
        attempt_id=heard.told.attempt_id,
        reason=heard.told.effect or heard.told.status,
        at=heard.at,
        lost=heard.told.status in LOST,
    )


def _seen(heard: _Heard) -> Seen:
    return Seen(
        notification_id=heard.notification_id,
        what=_ENGAGEMENTS[heard.told.status],
        recipient_id=RecipientId(heard.told.recipient_id),
        channel=heard.told.channel,
        at=heard.at,
        source="vendor",
        attempt_id=heard.told.attempt_id,
    )


def _effect(heard: _Heard) -> EffectReport | None:
    told = heard.told
    if told.effect is None:
        return None
    return EffectReport(
        notification_id=heard.notification_id,
        recipient_id=RecipientId(told.recipient_id),
        channel=told.channel,
        effect=told.effect,
        attempted_at=told.attempted_at,
        at=heard.at,
    )
