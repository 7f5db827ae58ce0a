"""All that callbacks can change, in words that do not depend on ids and clocks: two runs of one history are compared by it.

What differs by nature is left out, and nothing else:

- when something of ours happened: rows' times, `delivered_at`, `failed_at`, how far a profile's evidence has faded meanwhile
  (compared to a hundredth). What vendors say of times is compared exactly.
- `evidence`: an outcome is announced at the first word that decides it, and `read` decides as `delivered` does.
- `late`: whether a ladder was over when a word came.
- which message a suppression names, where several of them would do: the one that was heard first.
"""

import json
from collections import Counter
from collections.abc import Hashable, Mapping
from datetime import datetime
from typing import Any, Final

from bench.replay.world import World
from tidings.kernel.ids import TenantId

#: What there is, and how often.
State = Mapping[str, Counter[Hashable]]

_MOST_SHOWN: Final = 3


async def read_state(world: World) -> State:
    """As it stands."""
    found: dict[str, Counter[Hashable]] = {}
    for place, tenant_id in enumerate(world.tenants):
        for name, rows in (await _Reader(world, place, tenant_id).read()).items():
            found.setdefault(name, Counter()).update(rows)
    for name, rows in (await _platform(world)).items():
        found.setdefault(name, Counter()).update(rows)
    return found


def differences(one: State, other: State) -> list[str]:
    """Where they differ, some examples of each kind; nothing where they are the same."""
    lines = []
    for name in sorted({*one, *other}):
        here, there = one.get(name, Counter()), other.get(name, Counter())
        for label, left in (("only in the first", here - there), ("only in the second", there - here)):
            if left:
                shown = ", ".join(repr(row) for row in list(left)[:_MOST_SHOWN])
                lines.append(f"{name}: {left.total()} {label}, such as {shown}")
    return lines


class _Reader:
    """One tenant's."""

    def __init__(self, world: World, place: int, tenant_id: TenantId) -> None:
        self._world = world
        self._place = place
        self._tenant_id = tenant_id
        self._person = {id_: number for number, id_ in world.recipients.items()}
        self._number = {id_: number for number, id_ in world.notifications.items()}
        self._attempt: dict[str, tuple[int, int]] = {}
        self._address: dict[tuple[str, str], int] = {}

    async def read(self) -> dict[str, list[Hashable]]:
        world = self._world
        for row in await self._rows("SELECT id, provider_message_id FROM chan.delivery_attempts"):
            self._attempt[row["id"]] = world.side.known[row["provider_message_id"]]
        for row in await self._rows(
            "SELECT channel, address_hash, recipient_id FROM notification.recipient_addresses"
        ):
            self._address[row["channel"], row["address_hash"]] = self._person[row["recipient_id"]]
        return {
            "attempts": await self._attempts(),
            "receipts": await self._receipts(),
            "executions": await self._executions(),
            "spend": await self._spend(),
            "profiles": await self._profiles(),
            "unknown codes": await self._unknown(),
            "notifications": await self._notifications(),
            "log": await self._log(),
            "suppressions": await self._suppressions(),
            "soft bounces": await self._soft_bounces(),
            "early bounces": await self._early_bounces(),
            "counters": await self._counters(),
            "told": await self._told(),
        }

    async def _attempts(self) -> list[Hashable]:
        rows = await self._rows(
            "SELECT id, step_index, channel, provider, status, reason, meaning, cost_micros, cost_currency "
            "FROM chan.delivery_attempts"
        )
        return [(self._attempt[row["id"]], *list(row.values())[1:]) for row in rows]

    async def _receipts(self) -> list[Hashable]:
        rows = await self._rows(
            "SELECT attempt_id, status, provider_code, reason, cost_micros, cost_currency, occurred_at "
            "FROM chan.delivery_attempt_events"
        )
        return [
            (self._attempt[row["attempt_id"]], *list(row.values())[1:-1], self._since(row["occurred_at"]))
            for row in rows
        ]

    async def _executions(self) -> list[Hashable]:
        live = await self._rows("SELECT notification_id FROM chan.executions_live")
        over = await self._rows(
            "SELECT notification_id, recipient_id, outcome, final_channel, total_cost_micros, cost_currency "
            "FROM chan.fallback_executions"
        )
        return [
            *((self._number[row["notification_id"]], "under way") for row in live),
            *(
                (
                    self._number[row["notification_id"]],
                    self._person[row["recipient_id"]],
                    *list(row.values())[2:],
                )
                for row in over
            ),
        ]

    async def _spend(self) -> list[Hashable]:
        rows = await self._rows(
            "SELECT day, channel, vendor, currency, sum(messages)::bigint, sum(estimated_micros)::bigint AS estimated, "
            "sum(real_micros)::bigint AS told, sum(corrected)::bigint AS corrected "
            "FROM chan.spend_daily GROUP BY 1, 2, 3, 4"
        )
        return [(self._place, *row.values()) for row in rows]

    async def _profiles(self) -> list[Hashable]:
        rows = await self._rows(
            "SELECT recipient_id, channel_preferences, has_whatsapp_business, voice_otp_supported, email_verified, "
            "last_successful_channel, discovery_state FROM chan.recipient_profiles"
        )
        return [
            (self._person[row["recipient_id"]], _scores(row["channel_preferences"]), *list(row.values())[2:])
            for row in rows
        ]

    async def _unknown(self) -> list[Hashable]:
        rows = await self._rows("SELECT vendor, code, adapter, count FROM chan.unknown_provider_codes")
        return [(self._place, *row.values()) for row in rows]

    async def _notifications(self) -> list[Hashable]:
        rows = await self._rows(
            "SELECT id, status, channel, final_channel, failure_reason, suppression_reason, delivered_at IS NOT NULL, "
            "failed_at IS NOT NULL AS failed, bounced_at, read_at, opened_at, clicked_at "
            "FROM notification.notifications"
        )
        return [
            (
                self._number[row["id"]],
                *list(row.values())[1:8],
                *(self._since(row[name]) for name in ("bounced_at", "read_at", "opened_at", "clicked_at")),
            )
            for row in rows
        ]

    async def _log(self) -> list[Hashable]:
        rows = await self._rows(
            "SELECT notification_id, router_attempt_id, attempt_number, channel, vendor, outcome, error_code "
            "FROM notification.delivery_attempts"
        )
        return [
            (
                self._number[row["notification_id"]],
                self._attempt[row["router_attempt_id"]],
                *list(row.values())[2:],
            )
            for row in rows
        ]

    async def _suppressions(self) -> list[Hashable]:
        rows = await self._rows(
            "SELECT channel, address_hash, reason, expires_at FROM notification.suppressions WHERE released_at IS NULL"
        )
        return [
            (
                self._address[row["channel"], row["address_hash"]],
                row["channel"],
                row["reason"],
                self._since(row["expires_at"]),
            )
            for row in rows
        ]

    async def _soft_bounces(self) -> list[Hashable]:
        rows = await self._rows(
            "SELECT channel, address_hash, notification_id, bounced_at FROM notification.soft_bounces"
        )
        return [
            (
                self._address[row["channel"], row["address_hash"]],
                self._number[row["notification_id"]],
                self._since(row["bounced_at"]),
            )
            for row in rows
        ]

    async def _early_bounces(self) -> list[Hashable]:
        rows = await self._rows("SELECT notification_id, reason FROM notification.early_bounces")
        return [(self._number[row["notification_id"]], row["reason"]) for row in rows]

    async def _counters(self) -> list[Hashable]:
        rows = await self._rows(
            "SELECT day, name, channel, category, sum(n)::bigint FROM notification.counters GROUP BY 1, 2, 3, 4"
        )
        return [(self._place, *row.values()) for row in rows]

    async def _told(self) -> list[Hashable]:
        """What notify announces to others, each once."""
        async with self._world.db.worker() as tx:
            rows = await tx.connection.fetch(
                "SELECT subject, payload FROM notification.outbox WHERE tenant_id = $1", self._tenant_id
            )
        told = [(row["subject"], json.loads(row["payload"])) for row in rows]
        return [
            (subject, self._number.get(said.get("notification_id", "")), said.get("reason"))
            for subject, said in told
            if subject != "tenant.created.v1"
        ]

    async def _rows(self, query: str) -> list[dict[str, Any]]:
        async with self._world.db.tenant(self._tenant_id) as tx:
            return [dict(row) for row in await tx.connection.fetch(query)]

    def _since(self, at: datetime | None) -> float | None:
        return None if at is None else (at - self._world.begun_at).total_seconds()


def _scores(text: str) -> tuple[Hashable, ...]:
    """Each channel with what was observed of it. What is minutes older counts a little less than one: that is rounded away."""
    return tuple(
        (one["channel"], one["observations"], round(one["a"], 2), round(one["b"], 2))
        for one in json.loads(text)
    )


async def _platform(world: World) -> dict[str, list[Hashable]]:
    """What the intake keeps: which events were told, where they stand, what people wrote, which requests are open."""
    side = world.side
    accounts = {account: key for key, account in side.accounts.items()}
    async with world.db.worker() as tx:
        known = await tx.connection.fetch(
            "SELECT vendor, adapter, vendor_message_id, type, discriminator FROM chan.webhook_inbound_dedup"
        )
        events = await tx.connection.fetch(
            "SELECT vendor_message_id, type, status, tenant_id FROM chan.webhook_inbound_events"
        )
    async with world.db.platform() as tx:
        wrote = await tx.connection.fetch(
            "SELECT vendor, adapter, vendor_message_id, channel, destination, status FROM chan.inbound_messages"
        )
        requests = await tx.connection.fetch(
            "SELECT status, count(*) FROM chan.webhook_inbound WHERE adapter = ANY ($1) AND status NOT IN ('applied') "
            "GROUP BY 1",
            list(accounts),
        )
    places = {tenant_id: place for place, tenant_id in enumerate(world.tenants)}
    return {
        "dedup": [
            (
                accounts[row["adapter"]],
                side.known[row["vendor_message_id"]],
                row["type"],
                row["discriminator"],
            )
            for row in known
            if row["vendor_message_id"] in side.known
        ],
        "events": [
            (side.known[row["vendor_message_id"]], row["type"], row["status"], places.get(row["tenant_id"]))
            for row in events
            if row["vendor_message_id"] in side.known
        ],
        "inbound": [
            (accounts[row["adapter"]], row["channel"], row["destination"], row["status"], number)
            for row in wrote
            if (number := side.written.get(row["vendor_message_id"])) is not None
        ],
        "requests not done": [tuple(row.values()) for row in requests],
    }
