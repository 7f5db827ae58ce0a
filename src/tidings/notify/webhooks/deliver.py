"""The use case "tell an endpoint what happened": at least once, again and again for a day.

A worker claims endpoints, and not deliveries: so the calls of one endpoint are counted, paced and kept in order by whoever
has it, and one that hangs has a few connections at most, which are its own.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta
from typing import Final

import msgspec

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx
from tidings.kernel.durable.claims import Claim, ClaimSettings, SetAnswered
from tidings.kernel.durable.retry_policy import RandomUnit
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.errors import DatabaseBusyError, DatabaseError, TidingsError
from tidings.kernel.gather import Gatherer
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.outbox import Outbox
from tidings.kernel.signed_webhooks.call import WebhookCall, WebhookCaller, WebhookResult
from tidings.kernel.signed_webhooks.retry import next_attempt
from tidings.notify.ids import WebhookId
from tidings.notify.webhooks import delivery_store
from tidings.notify.webhooks.body import WebhookBodyTooLargeError, body_of
from tidings.notify.webhooks.credentials import ReadyCredentials, WebhookCredentialKeeper
from tidings.notify.webhooks.delivery_store import (
    ClaimedEndpoint,
    DueDelivery,
    EndedCall,
    LeftEndpoint,
    Place,
)
from tidings.notify.webhooks.events import delivery_failed_event, disabled_event, warned_event
from tidings.notify.webhooks.health import (
    EndpointStanding,
    EndpointVerdict,
    next_slot,
    slots_of,
    standing_of,
    verdict_of,
)
from tidings.notify.webhooks.model import (
    MOST_CALLS,
    SEALED_FOR,
    DisabledReason,
    WebhookCallRecord,
    WebhookDeliveryStatus,
)
from tidings.notify.webhooks.observer import WebhookObserver
from tidings.notify.webhooks.sealing import PAYLOAD, open_headers, open_secrets

#: Calls side by side in one process. Endpoints that fail, and those of which nothing is known, share few: the others don't wait for them.
SLOTS: Final[Mapping[EndpointStanding, int]] = {
    EndpointStanding.PROVEN: 512,
    EndpointStanding.NEW: 128,
    EndpointStanding.FAILING: 64,
}
#: All of them together.
MOST_CALLS_AT_ONCE: Final = sum(SLOTS.values())
#: What counts is endpoints: each has few deliveries in hand. A tenant may have all of them, because no endpoint waits for another.
CLAIM_SETTINGS: Final = ClaimSettings(limit=200, most_in_hand=2_000, most_of_a_tenant=None)
#: Deliveries of one endpoint until others have their turn, as many times as it may have calls side by side; and at most.
_ROUNDS: Final = 5
_MOST_OF_A_TURN: Final = 100
#: How long webhooks of a suspended tenant wait before they are looked at again.
HELD_FOR: Final = timedelta(minutes=1)
_OUTCOMES: Final[Mapping[WebhookDeliveryStatus, str]] = {
    WebhookDeliveryStatus.DELIVERED: "delivered",
    WebhookDeliveryStatus.QUEUED: "again",
    WebhookDeliveryStatus.DEAD: "dead",
}
#: It can't be read any more: the tenant's key is gone.
_UNREADABLE: Final = WebhookResult(delivered=False, reason="unreadable")
#: Its transformation leads to more than a body may have.
_TOO_LARGE: Final = WebhookResult(delivered=False, reason="too_large")
_NOT_MADE: Final = (_UNREADABLE, _TOO_LARGE)
#: How often the answers of one tenant are written again while its rows are locked; each time waits for as long as a lock may take.
_BUSY_TRIES: Final = 3
#: The credentials of the call are not taken.
_REFUSED: Final = 401


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """An endpoint with what it is told now."""

    endpoint: ClaimedEndpoint
    due: Sequence[DueDelivery]
    key: DataKey | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _EndedTurn:
    """What became of it."""

    endpoint: ClaimedEndpoint
    calls: Sequence[EndedCall]
    verdict: EndpointVerdict | None
    left: LeftEndpoint

    @property
    def place(self) -> Place:
        return self.endpoint.place


@dataclass(slots=True, eq=False, repr=False)
class WebhookDeliverer:
    """Calls endpoints; no transaction is open meanwhile."""

    db: Database
    caller: WebhookCaller
    credentials: WebhookCredentialKeeper
    _: KW_ONLY
    keyring: Keyring
    outbox: Outbox
    audit: AuditLog
    clock: Clock
    due_timer: DueTimer
    observer: WebhookObserver = field(default_factory=WebhookObserver)
    jitter: RandomUnit = random.random
    _slots: Mapping[EndpointStanding, asyncio.Semaphore] = field(init=False)
    _ends: Gatherer[str, _EndedTurn, None] = field(init=False)

    def __post_init__(self) -> None:
        self._slots = {standing: asyncio.Semaphore(most) for standing, most in SLOTS.items()}
        self._ends = Gatherer(self._write, sets_at_once=2, most_waiting=100_000)

    async def deliver(self, worker: str, claims: Sequence[Claim[WebhookId]], answered: SetAnswered) -> None:
        """Give each of the claimed endpoints a turn, side by side."""
        turns = await self._load(worker, [(claim.tenant_id, claim.id) for claim in claims])
        answered(len(claims) - len(turns))

        async def take(turn: _Turn) -> None:
            try:
                await self._ends.do(worker, await self._take(turn))
            finally:
                answered(1)

        errors = [
            error
            for error in await asyncio.gather(*map(take, turns), return_exceptions=True)
            if error is not None
        ]
        if errors:
            raise errors[0]

    async def close(self) -> None:
        """Write no more."""
        await self._ends.close()

    async def _load(self, worker: str, places: Sequence[Place]) -> list[_Turn]:
        now = self.clock.now()
        async with self.db.tenants({tenant_id for tenant_id, _ in places}, by_index=True) as tx:
            found = await delivery_store.load_endpoints(tx, places, worker=worker)
            wanted = [(one.place, most) for one in found if (most := _most(one, now))]
            due = await delivery_store.load_due(tx, wanted, now=now) if wanted else {}
            owners = {(one.tenant_id, SEALED_FOR) for one in found}
            keys = await self.keyring.data_keys_of(tx, owners, create=False) if owners else {}
        return [
            _Turn(endpoint=one, due=due.get(one.place, ()), key=keys.get((one.tenant_id, SEALED_FOR)))
            for one in found
        ]

    async def _take(self, turn: _Turn) -> _EndedTurn:
        endpoint = turn.endpoint
        results = await self._call_all(turn) if turn.due else []
        now = self.clock.now()
        calls = [self._ended(due, result, record, now) for due, result, record in results]
        heard = [result for _, result, _ in results if result not in _NOT_MADE]
        verdict = verdict_of(
            heard,
            endpoint.consecutive_failures,
            disable_after=endpoint.disable_after,
            now=now,
            chance=self.jitter(),
        )
        slot = next_slot(len(heard), endpoint.max_per_minute, now=now) or endpoint.next_slot_at
        left = LeftEndpoint(
            tenant_id=endpoint.tenant_id,
            id=endpoint.id,
            failures=endpoint.consecutive_failures if verdict is None else verdict.consecutive_failures,
            proven=endpoint.is_proven if verdict is None else verdict.proven,
            next_slot_at=None if endpoint.max_per_minute is None else slot,
            resting_until=_rests_until(endpoint, verdict, now),
            success_at=now if any(result.delivered for result in heard) else None,
            failure_at=now if any(not result.delivered for result in heard) else None,
            disables=verdict is not None and verdict.disabled is not None,
        )
        return _EndedTurn(endpoint=endpoint, calls=calls, verdict=verdict, left=left)

    async def _call_all(self, turn: _Turn) -> list[tuple[DueDelivery, WebhookResult, WebhookCallRecord]]:
        """Calls side by side; none begins any more when one has shown that the endpoint is away."""
        endpoint = turn.endpoint
        standing = standing_of(endpoint.consecutive_failures, proven=endpoint.is_proven)
        slots = self._slots[standing]
        line = iter(turn.due)
        done: list[tuple[DueDelivery, WebhookResult, WebhookCallRecord]] = []
        template = self._template(turn)
        away = False

        async def work() -> None:
            nonlocal away
            for due in line:
                async with slots:
                    if away:
                        return
                    at, began = self.clock.now(), asyncio.get_running_loop().time()
                    result = await self._call(turn, template, due)
                took = round((asyncio.get_running_loop().time() - began) * 1000)
                record = WebhookCallRecord(
                    at=at, status=result.status, reason=result.reason, milliseconds=took
                )
                done.append((due, result, record))
                away = away or result.away or result.final

        side_by_side = endpoint.max_in_flight if standing is EndpointStanding.PROVEN else 1
        await asyncio.gather(*(work() for _ in range(min(side_by_side, len(turn.due)))))
        return done

    def _template(self, turn: _Turn) -> WebhookCall | None:
        """What the calls of a turn have in common; None where its secrets can't be read any more."""
        endpoint = turn.endpoint
        if turn.key is None:
            return None
        try:
            return WebhookCall(
                url=endpoint.target_url,
                secrets=open_secrets(
                    turn.key,
                    endpoint.signing_secret_ciphertext,
                    endpoint.signing_secret_prev_ciphertext,
                    endpoint.signing_secret_prev_until,
                    now=self.clock.now(),
                ),
                webhook_id="",
                body=b"",
                headers=open_headers(turn.key, endpoint.headers_ciphertext),
                within=float(endpoint.timeout_seconds),
            )
        except TidingsError:
            return None

    async def _call(self, turn: _Turn, template: WebhookCall | None, due: DueDelivery) -> WebhookResult:
        endpoint = turn.endpoint
        if template is None or turn.key is None:
            return _UNREADABLE
        try:
            data = turn.key.unseal(due.payload_ciphertext, PAYLOAD)
            ready = await self.credentials.ready(turn.key, endpoint.credentials_ciphertext)
            body = body_of(due.event_type, due.event_id, due.happened_at, data, endpoint.transform)
        except TidingsError:
            return _UNREADABLE
        except WebhookBodyTooLargeError:
            return _TOO_LARGE
        if ready.failure is not None:
            return ready.failure
        result = await self._ask(template, ready, due.event_id, body)
        if result.status == _REFUSED:
            self.credentials.refused(endpoint.credentials_ciphertext, ready)
        return result

    async def _ask(
        self, template: WebhookCall, ready: ReadyCredentials, webhook_id: str, body: bytes
    ) -> WebhookResult:
        return await self.caller.call(
            WebhookCall(
                url=template.url,
                secrets=template.secrets,
                webhook_id=webhook_id,
                body=body,
                headers={**template.headers, **ready.headers},
                context=ready.context,
                within=template.within,
            )
        )

    def _ended(
        self, due: DueDelivery, result: WebhookResult, record: WebhookCallRecord, now: datetime
    ) -> EndedCall:
        next_at: datetime | None = None
        status = WebhookDeliveryStatus.DELIVERED
        if not result.delivered:
            made = result not in _NOT_MADE
            next_at = next_attempt(result, due.attempts + 1, now=now, chance=self.jitter()) if made else None
            status = WebhookDeliveryStatus.DEAD if next_at is None else WebhookDeliveryStatus.QUEUED
        calls = (*due.calls, record)[-MOST_CALLS:]
        return EndedCall(
            due,
            status=status,
            next_at=next_at,
            answer=result.status,
            reason=result.reason,
            calls=msgspec.json.encode(calls).decode(),
        )

    async def _write(self, worker: str, ends: Sequence[_EndedTurn]) -> Sequence[Exception | None]:
        """What became of some turns, together; where rows of one tenant are locked, each tenant's alone.

        While many deliveries are added, their endpoints are locked for longer than a set of several tenants waits. What was
        answered is not forgotten for that: it would be called again.
        """
        try:
            await self._write_together(worker, ends)
        except DatabaseBusyError:
            return await self._write_alone(worker, ends)
        return [None] * len(ends)

    async def _write_alone(self, worker: str, ends: Sequence[_EndedTurn]) -> Sequence[Exception | None]:
        failed: dict[TenantId, Exception] = {}
        by_tenant: dict[TenantId, list[_EndedTurn]] = {}
        for end in ends:
            by_tenant.setdefault(end.endpoint.tenant_id, []).append(end)
        for tenant_id, some in by_tenant.items():
            for tries in range(_BUSY_TRIES, 0, -1):
                try:
                    await self._write_together(worker, some)
                except DatabaseBusyError as error:
                    if tries == 1:
                        failed[tenant_id] = error
                except DatabaseError as error:
                    failed[tenant_id] = error
                    break
                else:
                    break
        return [failed.get(end.endpoint.tenant_id) for end in ends]

    async def _write_together(self, worker: str, ends: Sequence[_EndedTurn]) -> None:
        """In one transaction; those of endpoints that are no longer ours are let go."""
        now = self.clock.now()
        tenants = {end.endpoint.tenant_id for end in ends}
        async with self.db.tenants(tenants, by_index=True) as tx:
            held = await delivery_store.lock_claimed(tx, [end.place for end in ends], worker=worker)
            mine = [end for end in ends if end.place in held]
            calls = [call for end in mine for call in end.calls]
            if calls:
                ordered = {end.place: end.endpoint.ordered for end in mine}
                await delivery_store.end_calls(tx, calls, ordered, now=now)
            next_due = await delivery_store.leave_endpoints(tx, [end.left for end in mine]) if mine else None
            disabled = await self._disable(tx, mine, now)
            await self._tell(tx, mine, disabled)
        if next_due is not None:
            self.due_timer.expect(next_due)
        outcomes = Counter(_OUTCOMES[call.status] for call in calls)
        for outcome, count in outcomes.items():
            self.observer.called(outcome, count)
        for reason in disabled.values():
            self.observer.disabled(reason)

    async def _disable(
        self, tx: TenantsTx, ends: Sequence[_EndedTurn], now: datetime
    ) -> dict[Place, DisabledReason]:
        failed: dict[Place, DisabledReason] = {
            end.place: end.verdict.disabled
            for end in ends
            if end.verdict is not None and end.verdict.disabled
        }
        if not failed:
            return {}
        gone = await delivery_store.disable_webhooks(tx, list(failed.items()), now=now)
        for tenant_id, webhook_id in sorted(gone):
            entry = Entry(
                entity_type="webhook",
                entity_id=webhook_id,
                action="webhook.disabled",
                actor="system",
                after={"reason": failed[tenant_id, webhook_id]},
            )
            await self.audit.append(tx.of(tenant_id), [entry])
        return {place: failed[place] for place in gone}

    async def _tell(
        self, tx: TenantsTx, ends: Sequence[_EndedTurn], disabled: Mapping[Place, DisabledReason]
    ) -> None:
        events = [
            delivery_failed_event(call, is_test=end.endpoint.is_test, clock=self.clock)
            for end in ends
            for call in end.calls
            if call.status is WebhookDeliveryStatus.DEAD
        ]
        for end in ends:
            if end.verdict is None:
                continue
            failures = end.verdict.consecutive_failures
            events += [
                warned_event(end.endpoint, percent, failures, clock=self.clock)
                for percent in end.verdict.warnings
            ]
            if end.place in disabled:
                events.append(disabled_event(end.endpoint, disabled[end.place], failures, clock=self.clock))
        await self.outbox.append(tx, events)


def _rests_until(
    endpoint: ClaimedEndpoint, verdict: EndpointVerdict | None, now: datetime
) -> datetime | None:
    """How long it is left alone: after failures, and while its tenant is suspended."""
    if endpoint.is_held:
        return now + HELD_FOR
    return None if verdict is None else verdict.resting_until


def _most(endpoint: ClaimedEndpoint, now: datetime) -> int:
    """How many deliveries an endpoint may have in one turn."""
    if endpoint.is_held:
        return 0
    standing = standing_of(endpoint.consecutive_failures, proven=endpoint.is_proven)
    wanted = (
        min(endpoint.max_in_flight * _ROUNDS, _MOST_OF_A_TURN) if standing is EndpointStanding.PROVEN else 1
    )
    return slots_of(wanted, endpoint.max_per_minute, endpoint.next_slot_at, now=now)
