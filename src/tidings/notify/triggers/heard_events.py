"""The events that triggers hear, as the bus brings them: producers' events, with what they say, and Tidings' own."""

from collections.abc import Sequence
from typing import Final

from tidings.contracts.received_events import EVENT_RECEIVED_SUBJECT, EventReceived
from tidings.kernel.db import PlatformTx, TenantsTx
from tidings.kernel.events import Event
from tidings.kernel.ids import EventId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger
from tidings.notify.received_events import store as received_store
from tidings.notify.triggers.model import HeardEvent

_log = get_logger("triggers")
GROUP: Final = "notify.triggers"
#: Tidings' own events that triggers may name; those of notifications would answer themselves.
OWN_SUBJECTS: Final = (
    "suppression.added.v1",
    "suppression.released.v1",
    "preferences.updated.v1",
    "optout.recorded.v1",
    "conversation.opened.v1",
    "conversation.message_received.v1",
    "conversation.closed.v1",
    "channel.degraded.v1",
    "channel.restored.v1",
    "template.published.v1",
)
SUBJECTS: Final = (EVENT_RECEIVED_SUBJECT, *OWN_SUBJECTS)


async def pass_over(_tx: PlatformTx, _events: Sequence[Event]) -> None:
    """Events without a tenant fire nothing: there is nobody for whom they would send."""


def type_of(event: Event) -> str:
    """The type that triggers name it by."""
    if event.subject != EVENT_RECEIVED_SUBJECT:
        return event.subject
    received: EventReceived = event.payload_as(EventReceived)
    return received.type


async def load_heard(
    tx: TenantsTx, keyring: Keyring, events: Sequence[Event]
) -> tuple[list[HeardEvent], list[HeardEvent]]:
    """The events with what they say; and those that are no longer kept, because a dead letter was replayed too late."""
    received = {
        EventId(event.payload_as(EventReceived).event_id): event
        for event in events
        if event.subject == EVENT_RECEIVED_SUBJECT
    }
    asked = [(event.tenant_id, id_) for id_, event in received.items() if event.tenant_id is not None]
    loaded = await received_store.load(tx, keyring, asked) if asked else []
    gone = [_gone(received[id_]) for id_ in sorted({id_ for _, id_ in asked} - {one.id for one in loaded})]
    if gone:
        _log.error("events_gone", count=len(gone), event_ids=[one.id for one in gone[:10]])
    found = {
        received[one.id].id: HeardEvent(
            tenant_id=one.tenant_id,
            id=one.id,
            type=one.type,
            source=one.source,
            time=one.happened_at,
            received_at=one.received_at,
            timed=one.is_timed,
            is_test=one.is_test,
            scope=one.scope(),
        )
        for one in loaded
    }
    for event in events:
        if event.subject != EVENT_RECEIVED_SUBJECT:
            found[event.id] = heard_of_own(event)
    return [found[event.id] for event in events if event.id in found], gone


def heard_of_own(event: Event) -> HeardEvent:
    """One of Tidings' own events, as triggers see it; what orders it is what it is about."""
    if event.tenant_id is None:
        raise ValueError("an event without a tenant has no triggers")
    payload = event.payload()
    scope = {
        "specversion": "1.0",
        "id": event.id,
        "source": event.source,
        "type": event.subject,
        "subject": event.ordering_key,
        "time": event.time.isoformat().replace("+00:00", "Z"),
        "data": payload,
    }
    return HeardEvent(
        tenant_id=event.tenant_id,
        id=event.id,
        type=event.subject,
        source=event.source,
        time=event.time,
        received_at=event.time,
        is_test=bool(payload.get("is_test")) if isinstance(payload, dict) else False,
        scope=scope,
    )


def _gone(event: Event) -> HeardEvent:
    """One whose words are gone, as far as its announcement tells of it."""
    told: EventReceived = event.payload_as(EventReceived)
    if event.tenant_id is None:
        raise ValueError("an event without a tenant has no triggers")
    return HeardEvent(
        tenant_id=event.tenant_id,
        id=told.event_id,
        type=told.type,
        source=told.source,
        time=told.time,
        received_at=event.time,
        is_test=told.is_test,
        scope={},
    )
