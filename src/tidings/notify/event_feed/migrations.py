"""Readers outside and newer versions of events: which of them read what, and what they say when they have moved on."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

from tidings.contracts.event_versions import MIGRATION_COMPLETED_SUBJECT, ConsumerMigrationCompleted
from tidings.kernel.bus import PlatformHandler, SubjectFilter
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, WorkerTx
from tidings.kernel.event_versions import store as versions
from tidings.kernel.event_versions.model import Successor
from tidings.kernel.events import Event
from tidings.notify.event_feed import store

#: The consumer group; its cursor and its dead letters go by this name.
GROUP: Final = "notify.event_migrations"
#: What it listens to.
SUBJECTS: Final = (MIGRATION_COMPLETED_SUBJECT,)

_decode = msgspec.json.Decoder(ConsumerMigrationCompleted).decode


async def known_readers(tx: WorkerTx) -> Mapping[str, SubjectFilter]:
    """Every reader whose place is kept, with what it reads."""
    return {
        group_name(tenant_id, name): SubjectFilter(types)
        for tenant_id, name, types in await store.all_readers(tx)
    }


def group_name(tenant_id: str, name: str) -> str:
    """What a tenant's reader is called among all groups."""
    return f"{tenant_id}/{name}"


def handler(successors: Collection[Successor], clock: Clock) -> PlatformHandler:
    """Notes which readers have moved on; what is said of events without a newer version changes nothing."""
    older = {one.replaces for one in successors}

    async def handle(tx: PlatformTx, events: Sequence[Event]) -> None:
        said = {
            (told.subject, group_name(event.tenant_id, told.group))
            for event in events
            if event.tenant_id is not None and (told := _decode(event.data)).subject in older
        }
        if said:
            await versions.complete(tx, sorted(said), now=clock.now())

    return handle
