"""A message came back: its notification is `bounced`, if it was that message that had delivered it.

So is one that counts as delivered because a vendor took it over, and of which the vendor says later that it did not arrive:
no vendor had said that it did. Once one has, a failure that is told afterwards changes nothing; a bounce does.

A vendor's bounce and the router's outcome come over different ways and in any order. A bounce that is heard first waits
for the outcome; from then on both orders lead to the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.outbox import Outbox
from tidings.notify.accept.events import facts_of, moved_event
from tidings.notify.receipts import store
from tidings.notify.receipts.model import Bounce, Subject

_UNDER_WAY: Final = frozenset(
    {NotificationStatus.QUEUED, NotificationStatus.SCHEDULED, NotificationStatus.DISPATCHED}
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Bounces:
    """Applies sets of them."""

    outbox: Outbox
    clock: Clock
    stripe: int = 0

    async def heard(
        self, tx: TenantTx, subjects: Mapping[NotificationId, Subject], bounces: Sequence[Bounce]
    ) -> None:
        """Bounces of notifications that are locked: applied, or kept until their outcome is known."""
        known = [bounce for bounce in bounces if bounce.notification_id in subjects]
        early = [b for b in known if subjects[b.notification_id].status in _UNDER_WAY]
        await store.keep_early(tx, _firsts(early), now=self.clock.now())
        await self._turn(
            tx, [b for b in known if subjects[b.notification_id].status is NotificationStatus.DELIVERED]
        )

    async def settled(self, tx: TenantTx, ids: Sequence[str]) -> None:
        """The outcomes of these are known now, and bounces have waited for them."""
        if ids:
            await self._turn(tx, await store.take_early(tx, ids))

    async def _turn(self, tx: TenantTx, bounces: Sequence[Bounce]) -> None:
        moved = await store.turn_bounced(tx, _firsts(bounces), now=self.clock.now(), stripe=self.stripe)
        await self.outbox.append(
            tx,
            [
                moved_event(
                    tx.tenant_id, facts_of(row), row["status"], reason=row["reason"], clock=self.clock
                )
                for row in moved
            ],
        )


def _firsts(bounces: Sequence[Bounce]) -> list[Bounce]:
    """Of each message one: a bounce before a failure, and then the earliest."""
    first: dict[tuple[str, str], Bounce] = {}
    for bounce in sorted(bounces, key=lambda one: (one.lost, one.at, one.reason)):
        first.setdefault((bounce.notification_id, bounce.attempt_id), bounce)
    return list(first.values())
