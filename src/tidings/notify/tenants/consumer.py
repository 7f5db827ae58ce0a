"""Feeds tenant events from the bus into the projection."""

from collections.abc import Sequence
from typing import Final

from tidings.contracts.tenants import TENANT_EVENTS
from tidings.kernel.db import PlatformTx
from tidings.kernel.events import Event
from tidings.notify.tenants.project import project

#: The consumer group; its cursor and its dead letters go by this name.
GROUP: Final = "notify.tenants"
#: What it listens to.
SUBJECTS: Final = tuple(TENANT_EVENTS)


async def handle(tx: PlatformTx, events: Sequence[Event]) -> None:
    """Apply events to the projection, in the platform transaction that also marks them consumed."""
    await project(tx, events)
