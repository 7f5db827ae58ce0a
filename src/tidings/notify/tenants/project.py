"""The one way tenants change: events in, rows out. The consumer and the platform's routes both come here."""

from collections.abc import Sequence
from typing import Final

import msgspec

from tidings.contracts.tenants import TENANT_EVENTS, TenantEvent
from tidings.kernel.db import PlatformTx
from tidings.kernel.events import Event
from tidings.kernel.ids import TENANT, TenantId
from tidings.notify.tenants import store
from tidings.notify.tenants.errors import UnprojectableError
from tidings.notify.tenants.model import Tenant, apply

#: The consumer group of the projection; its cursor and its dead letters go by this name.
GROUP: Final = "notify.tenants"
#: What it listens to.
SUBJECTS: Final = tuple(TENANT_EVENTS)

_decoders = {subject: msgspec.json.Decoder(form) for subject, form in TENANT_EVENTS.items()}


async def project(tx: PlatformTx, events: Sequence[Event]) -> dict[TenantId, Tenant]:
    """Apply the events in their order, each tenant read and written once; the tenants as they are now."""
    ids = sorted({tenant_of(event) for event in events})
    before = await store.lock_tenants(tx, tenant_ids=ids)
    after = dict(before)
    for event in events:
        tenant_id = tenant_of(event)
        payload = _payload(event)
        if payload.tenant_id != tenant_id:
            raise UnprojectableError(f"event {event.id} is about another tenant than its payload says")
        after[tenant_id] = apply(after.get(tenant_id), payload, event_id=event.id, at=event.time)
    changed = [tenant for tenant_id, tenant in after.items() if before.get(tenant_id) != tenant]
    if changed:
        await store.save_tenants(tx, changed)
    return after


async def handle(tx: PlatformTx, events: Sequence[Event]) -> None:
    """The consumer: in the platform transaction that also marks the events consumed."""
    await project(tx, events)


def tenant_of(event: Event) -> TenantId:
    """Which tenant an event is about; its own, or the one that its payload names."""
    if event.tenant_id is not None:
        return event.tenant_id
    return TENANT.parse(str(_payload(event).tenant_id), field="tenant_id")


def _payload(event: Event) -> TenantEvent:
    decoder = _decoders.get(event.subject)
    if decoder is None:
        raise UnprojectableError(f"event {event.id} is no tenant event: {event.subject}")
    try:
        return decoder.decode(event.data)
    except msgspec.ValidationError as error:
        raise UnprojectableError(f"event {event.id} ({event.subject}) is not as agreed: {error}") from None
