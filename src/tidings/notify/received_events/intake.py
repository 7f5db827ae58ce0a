"""The use case "an event comes in": checked, kept once by its source and id, and announced in the same transaction.

Events that come at the same moment, of whatever tenants, share a transaction; a batch has one of its own. CloudEvents says
that source and id are an event: a repeat is a repeat whatever its content, and is answered with the id of the first time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import msgspec

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.received_events import EVENT_RECEIVED_SUBJECT, EventReceived
from tidings.kernel.clock import Clock
from tidings.kernel.db import CallerRole, Database
from tidings.kernel.durable.halving import SetDone, halve
from tidings.kernel.errors import BadValueError, ConstraintError, DatabaseBusyError
from tidings.kernel.events import Event, checked
from tidings.kernel.gather import Gatherer
from tidings.kernel.ids import EVENT, TENANT, EventId, TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.outbox import Outbox
from tidings.kernel.refusals import InvalidError, RefusalError
from tidings.kernel.tracing import current_traceparent, span_of_set
from tidings.notify.accept.validator import LONGEST_PLAN, LONGEST_SCHEDULE
from tidings.notify.received_events import store
from tidings.notify.received_events.known_types import check_type, is_about_tenants, is_heard, payload_of
from tidings.notify.received_events.model import (
    AcceptedEvent,
    CloudEvent,
    EventOutcome,
    EventSender,
    ReceivedEvent,
    RefusedEvent,
    identity_hash,
)
from tidings.notify.received_events.store import NewReceivedEvent

#: Events of a batch that share a statement at most.
_MOST_AT_ONCE: Final = 500
#: A repeat is known for longer than anything that the event may have planned is waiting.
_IDS_KEPT: Final = max(LONGEST_SCHEDULE, LONGEST_PLAN) + timedelta(days=30)
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class _Lane:
    """Whose events share a transaction."""

    role: CallerRole
    #: None: of all tenants.
    tenant_id: TenantId | None = None


@dataclass(frozen=True, slots=True)
class _AboutTenant:
    """An event about a tenant that is about to go on the bus."""

    identity: tuple[TenantId, bytes]
    made: Event


class EventIntake:
    """Takes events in; one per process."""

    def __init__(self, *, db: Database, keyring: Keyring, outbox: Outbox, clock: Clock) -> None:
        self._db = db
        self._keyring = keyring
        self._outbox = outbox
        self._clock = clock
        self._gatherer: Gatherer[_Lane, NewReceivedEvent, AcceptedEvent] = Gatherer(self._keep)

    async def accept(self, sender: EventSender, event: CloudEvent) -> AcceptedEvent:
        """It is durable and announced when this returns."""
        check_type(event, sender)
        if is_about_tenants(event):
            return (await self._publish(sender.role, [self._about_tenant(sender, event)]))[0]
        fresh = self._new(sender, event)
        own = _Lane(sender.role, fresh.tenant_id)
        # A tenant whose events wait for a lock keeps to its own sets until they are through: no other tenant waits again.
        if self._gatherer.works_on(own):
            return await self._gatherer.do(own, fresh)
        try:
            return await self._gatherer.do(_Lane(sender.role), fresh)
        except DatabaseBusyError:
            return await self._gatherer.do(own, fresh)

    async def accept_batch(
        self, sender: EventSender, events: Sequence[CloudEvent | InvalidError]
    ) -> list[EventOutcome]:
        """What became of each; one that is refused does not refuse the others."""
        return await self.accept_set(sender.role, [(sender, event) for event in events])

    async def accept_set(
        self, role: CallerRole, events: Sequence[tuple[EventSender, CloudEvent | InvalidError]]
    ) -> list[EventOutcome]:
        """The same for events of several senders with this role, of whatever tenants; those of many tenants share a transaction."""
        outcomes: dict[int, EventOutcome] = {}
        fresh: list[tuple[int, NewReceivedEvent]] = []
        about_tenants: list[tuple[int, _AboutTenant]] = []
        for place, (sender, event) in enumerate(events):
            if isinstance(event, InvalidError):
                outcomes[place] = RefusedEvent(event)
                continue
            try:
                check_type(event, sender)
                if is_about_tenants(event):
                    about_tenants.append((place, self._about_tenant(sender, event)))
                else:
                    fresh.append((place, self._new(sender, event)))
            except (RefusalError, BadValueError) as error:
                outcomes[place] = RefusedEvent(error)
        if about_tenants:
            published = await self._publish(role, [one for _, one in about_tenants])
            outcomes |= {place: done for (place, _), done in zip(about_tenants, published, strict=True)}
        for at in range(0, len(fresh), _MOST_AT_ONCE):
            outcomes |= await self._keep_part(role, fresh[at : at + _MOST_AT_ONCE])
        return [outcomes[place] for place in range(len(events))]

    async def _keep_part(
        self, role: CallerRole, part: Sequence[tuple[int, NewReceivedEvent]]
    ) -> dict[int, EventOutcome]:
        lane = _Lane(role)

        async def keep(some: Sequence[tuple[int, NewReceivedEvent]]) -> list[AcceptedEvent]:
            return await self._keep(lane, [fresh for _, fresh in some])

        outcomes: dict[int, EventOutcome] = {}
        async for done in halve(part, keep, blames_item=lambda error: isinstance(error, ConstraintError)):
            if isinstance(done, SetDone):
                outcomes |= {place: one for (place, _), one in zip(done.items, done.result, strict=True)}
            else:
                raise done.error
        return outcomes

    def _new(self, sender: EventSender, event: CloudEvent) -> NewReceivedEvent:
        if sender.tenant_id is None:
            raise AssertionError("an event of no tenant is about tenants")
        now = self._clock.now()
        received = ReceivedEvent(
            tenant_id=sender.tenant_id,
            id=EVENT.new(now),
            source=event.source,
            source_event_id=event.id,
            type=event.type,
            subject=event.subject,
            happened_at=event.time or now,
            is_test=sender.is_test,
            content=event.content,
        )
        announcement = (
            _heard_event(received.id, received.tenant_id, received.ordering_key, event)
            if is_heard(event.type)
            else _announcement(received)
        )
        identity = identity_hash(sender, event.source, event.id)
        return NewReceivedEvent(event=received, identity_hash=identity, announcement=announcement)

    async def _keep(self, lane: _Lane, items: Sequence[NewReceivedEvent]) -> list[AcceptedEvent]:
        """Keep those that are new; of two in one set that are the same event the first is."""
        first: dict[tuple[TenantId, bytes], NewReceivedEvent] = {}
        for item in items:
            first.setdefault((item.tenant_id, item.identity_hash), item)
        tenants = {tenant_id for tenant_id, _ in first}
        with span_of_set(
            "events",
            "events receive",
            (item.announcement.traceparent for item in items),
            tenant_ids=sorted(tenants),
            count=len(items),
        ):
            expires_at = self._clock.now() + _IDS_KEPT
            fresh = list(first.values())
            async with self._db.tenants(tenants, caller_role=lane.role, by_index=True, pipelined=True) as tx:
                keys = await store.event_keys(tx, self._keyring, tenants)
                tx.commit_with_next()
                new = await store.insert_received_events(tx, fresh, keys, expires_at=expires_at)
            known = {identity: one.event.id for identity, one in first.items()}
            repeats = [identity for identity, id_ in known.items() if id_ not in new]
            if repeats:
                async with self._db.tenants(tenants, caller_role=lane.role, by_index=True) as tx:
                    known |= _found(repeats, await store.find_in_ledger(tx, repeats))
        return _outcomes([known[item.tenant_id, item.identity_hash] for item in items], new)

    def _about_tenant(self, sender: EventSender, event: CloudEvent) -> _AboutTenant:
        tenant_id = TENANT.parse(payload_of(event).tenant_id, field="data.tenant_id")
        made = _heard_event(EVENT.new(self._clock.now()), tenant_id, tenant_id, event)
        return _AboutTenant((tenant_id, identity_hash(sender, event.source, event.id)), made)

    async def _publish(self, role: CallerRole, events: Sequence[_AboutTenant]) -> list[AcceptedEvent]:
        """Put events about tenants on the bus, for the consumers that hear them; few, and from the platform alone."""
        now = self._clock.now()
        identities = [one.identity for one in events]
        first: dict[tuple[TenantId, bytes], Event] = {}
        for one in events:
            first.setdefault(one.identity, one.made)
        async with self._db.platform(caller_role=role) as tx:
            entries = [(*identity, made.id) for identity, made in first.items()]
            new = await store.enter_ledger(tx, entries, expires_at=now + _IDS_KEPT)
            await self._outbox.append(tx, [made for made in first.values() if made.id in new])
            known = {identity: made.id for identity, made in first.items()}
            repeats = [identity for identity, id_ in known.items() if id_ not in new]
            if repeats:
                known |= _found(repeats, await store.find_in_ledger(tx, repeats))
        return _outcomes([known[identity] for identity in identities], new)

    async def close(self) -> None:
        """Cut off what is under way."""
        await self._gatherer.close()


def _outcomes(ids: Sequence[EventId], new: set[EventId]) -> list[AcceptedEvent]:
    """The first that has the id of a new event is that event; all others are repeats."""
    left = set(new)
    outcomes: list[AcceptedEvent] = []
    for id_ in ids:
        outcomes.append(AcceptedEvent(id_, duplicate=id_ not in left))
        left.discard(id_)
    return outcomes


def _found(
    repeats: Sequence[tuple[TenantId, bytes]], found: dict[int, EventId]
) -> dict[tuple[TenantId, bytes], EventId]:
    if len(found) < len(repeats):
        # Its entry expired between the two statements.
        raise DatabaseBusyError("an event's entry in the ledger went away; send the event again")
    return {repeats[place]: id_ for place, id_ in found.items()}


def _announcement(event: ReceivedEvent) -> Event:
    """`event.received.v1`: that it came, and where it is found."""
    payload = EventReceived(
        event_id=event.id,
        type=event.type,
        source=event.source,
        time=event.happened_at,
        subject=event.subject,
        is_test=event.is_test,
    )
    return Event(
        id=event.id,
        tenant_id=event.tenant_id,
        subject=EVENT_RECEIVED_SUBJECT,
        ordering_key=event.ordering_key,
        data=_encode(payload).decode(),
        source=NOTIFY_SOURCE,
        traceparent=event.content.traceparent or current_traceparent(),
    )


def _heard_event(id_: EventId, tenant_id: TenantId, ordering_key: str, event: CloudEvent) -> Event:
    """The event itself, under its own type, for a consumer that hears it; what its form does not name is left out."""
    return checked(
        Event(
            id=id_,
            tenant_id=tenant_id,
            subject=event.type,
            ordering_key=ordering_key,
            data=_encode(payload_of(event)).decode(),
            source=event.source,
            happened_at=event.time,
            traceparent=event.content.traceparent or current_traceparent(),
        )
    )
