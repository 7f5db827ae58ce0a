"""What a flush comes to: which items are told in a digest, which go by themselves, and how each is known afterwards; pure."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from tidings.contracts.enums import NotificationStatus, Priority
from tidings.contracts.ids import NotificationId
from tidings.notify.accept.order import Order, OrderedBy
from tidings.notify.accept.row import RANKS
from tidings.notify.decide import trace
from tidings.notify.decide.model import Gate, Pass, Stop
from tidings.notify.decide.reasons import GateReason
from tidings.notify.digests.drafts import DraftedWindow
from tidings.notify.digests.flush_store import DigestItem, FlushResult, SettledItem
from tidings.notify.digests.lines import variables_of
from tidings.notify.ids import DigestWindowId
from tidings.notify.recipients.recipient_input import RecipientSpec

_BEST: Final[tuple[Priority, ...]] = ("critical", "high", "normal", "low")
_EXPIRED: Final = trace.encode(
    [trace.line_of(Gate.EXPIRY, Stop(NotificationStatus.EXPIRED, GateReason.EXPIRED))]
)


class FlushPlan(Struct, frozen=True, kw_only=True):
    """What is left in a window, and the order of its digest where there is one."""

    draft: DraftedWindow
    live: list[DigestItem]
    expired: list[DigestItem]
    #: Those that are not for its reader any more.
    astray: list[DigestItem]
    order: Order | None = None

    def result(self, digest_id: NotificationId | None) -> FlushResult:
        """How it ends, with the digest that was made or without."""
        if digest_id is not None:
            return "digest"
        if not self.live:
            return "empty"
        return "single" if len(self.live) == 1 else "apart"

    def settled(self, digest_id: NotificationId | None) -> list[SettledItem]:
        """What each of its items comes to."""
        window_id = self.draft.window.id
        found = [
            SettledItem(
                item=item, status=NotificationStatus.EXPIRED, trace=_EXPIRED, reason=GateReason.EXPIRED
            )
            for item in self.expired
        ]
        found += [_waiting(item, GateReason.DIGEST_FOR_ANOTHER, window_id) for item in self.astray]
        if digest_id is not None:
            return found + [_superseded(item, digest_id) for item in self.live]
        reason = GateReason.DIGEST_OF_ONE if len(self.live) == 1 else GateReason.DIGEST_NOT_MADE
        return found + [_waiting(item, reason, window_id) for item in self.live]

    @property
    def mark(self) -> str:
        """By what its digest is known. One that tells a guardian of others is for that guardian, whoever hears for them in turn."""
        window = self.draft.window
        lines = [trace.line_of(Gate.DIGEST, Pass(GateReason.IS_DIGEST, window.id))]
        if self.draft.repeats is not None:
            lines.append(trace.line_of(Gate.DIGEST, Pass(GateReason.DIGEST_REPEATS, self.draft.repeats)))
        if any(item.is_copy or item.recipient_id != window.recipient_id for item in self.live):
            lines.insert(0, trace.line_of(Gate.RECIPIENT, Pass(GateReason.COPY_FOR_GUARDIAN)))
        return trace.encode(lines)


def planned(
    draft: DraftedWindow,
    items: Sequence[DigestItem],
    gone_astray: Collection[NotificationId],
    now: datetime,
) -> FlushPlan:
    """What these items of a window come to now."""
    expired = [item for item in items if item.expires_at <= now]
    astray = [item for item in items if item.expires_at > now and item.id in gone_astray]
    live = [item for item in items if item.expires_at > now and item.id not in gone_astray]
    order = None
    # What was told before is told again beside something new, and never by itself.
    if live and len(live) + len(draft.again) > 1 and not draft.apart:
        order = _order(draft, live)
    return FlushPlan(draft=draft, live=live, expired=expired, astray=astray, order=order)


def _order(draft: DraftedWindow, live: Sequence[DigestItem]) -> Order | None:
    window = draft.window
    variables = variables_of(draft.lines, [item.id for item in live], draft.channels, draft.again)
    if not variables["items"]:
        # A line is there for each that could be opened; without any there is nothing to tell.
        return None
    return Order(
        by=OrderedBy(window.tenant_id, is_test=window.is_test),
        recipient=RecipientSpec(id=window.recipient_id),
        template=draft.template,
        channel=window.channel,
        variables=variables,
        category=window.category,
        priority=min((item.priority for item in live), key=_BEST.index),
        correlation_id=window.id,
    )


def _superseded(item: DigestItem, digest_id: NotificationId) -> SettledItem:
    stop = Stop(NotificationStatus.SUPERSEDED, GateReason.DIGESTED, digest_id)
    return SettledItem(
        item=item,
        status=NotificationStatus.SUPERSEDED,
        trace=trace.encode([trace.line_of(Gate.DIGEST, stop)]),
        reason=GateReason.DIGESTED,
    )


def _waiting(item: DigestItem, reason: GateReason, window_id: DigestWindowId) -> SettledItem:
    """It goes on by itself."""
    return SettledItem(
        item=item,
        status=NotificationStatus.SCHEDULED,
        trace=trace.encode([trace.line_of(Gate.DIGEST, Pass(reason, window_id))]),
        rank=RANKS[item.priority],
    )
