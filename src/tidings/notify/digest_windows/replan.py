"""A digest schedule changed, or a time zone: open windows move to the time that holds by now; a digest that was switched off is due at once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import UNSET

from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import TenantUpdated
from tidings.kernel.bus import TenantHandler
from tidings.kernel.clock import Clock
from tidings.kernel.db import Row, TenantTx
from tidings.kernel.events import Event
from tidings.kernel.mapping import tuple_columns
from tidings.kernel.sql import Queries
from tidings.notify.digest_windows.schedule import DigestPlan, in_force, plan, read_schedule
from tidings.notify.tenants.model import zone_exists
from tidings.notify.tenants.store import read_policy

QUERIES = Queries.beside(__file__)

#: Hears of tenants whose own schedules, or whose time zone, may have changed.
GROUP: Final = "notify.digests"
SUBJECTS: Final = ("tenant.updated.v1",)
#: Where the next page begins.
_AFTER: Final = ("after_recipient", "after_category", "after_channel", "after_key", "after_test")
#: Windows that are moved with one statement.
_PAGE: Final = 1_000


async def replan_digests(tx: TenantTx, recipient_ids: Sequence[RecipientId] | None, *, now: datetime) -> int:
    """Move the open windows of these recipients, or of all; how many have another time now."""
    moved = 0
    # The columns of the index that they are found by, from before the first.
    after: tuple[Any, ...] = ("", "", "", "", False)
    while True:
        rows = await tx.fetch(
            QUERIES.load_open_windows,
            recipient_ids=None if recipient_ids is None else list(recipient_ids),
            now=now,
            limit=_PAGE,
            **dict(zip(_AFTER, after, strict=True)),
        )
        changed: list[tuple[Any, ...]] = []
        for row in rows:
            planned = _replanned(row, now)
            if planned.flush_at != row["flush_at"]:
                changed.append((row["id"], planned.flush_at, planned.end, planned.slides))
        if changed:
            moved += await tx.execute(
                QUERIES.move_windows, now=now, **tuple_columns(changed, "ids flush_ats window_ends slides")
            )
        if len(rows) < _PAGE:
            return moved
        last = rows[-1]
        after = (
            last["recipient_id"],
            last["category"],
            last["channel"],
            last["digest_key"],
            last["is_test"],
        )


def handler(clock: Clock) -> TenantHandler:
    """Looks at a tenant's windows again when its policy or its time zone changed."""

    async def handle(tx: TenantTx, events: Sequence[Event]) -> None:
        changes = [event.payload_as(TenantUpdated) for event in events]
        if any(
            change.notification_policy is not UNSET or change.default_timezone is not UNSET
            for change in changes
        ):
            await replan_digests(tx, None, now=clock.now())

    return handle


def _replanned(row: Row, now: datetime) -> DigestPlan:
    own = read_schedule(row["digest_schedule"]) if row["digest_schedule"] else {}
    usual = read_policy(row["notification_policy"]).digest_schedule
    choice = in_force(own.get(row["category"]), usual.get(row["category"]))
    if choice is None:
        return DigestPlan(now, now)
    zone = row["chosen_timezone"] or row["primary_timezone"]
    planned = plan(
        choice,
        zone if zone_exists(zone) else row["default_timezone"],
        now,
        opened=row["window_start"],
        last_item=row["last_item_at"],
    )
    first = row["flush_by"]
    return planned if first is None or first >= planned.flush_at else planned._replace(flush_at=first)
