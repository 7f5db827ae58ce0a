"""A cache of the triggers in force, by the types of events that they hear: they are not read with every event."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from tidings.kernel.announced_changes import AnnouncedChanges, announced_sets
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.set_cache import SetCache
from tidings.kernel.ttl_cache import TtlCache
from tidings.notify.ids import TriggerId
from tidings.notify.triggers import store
from tidings.notify.triggers.model import SUBJECTS_KEPT, Hears, Trigger

#: A change counts everywhere within a second, and at once where it is announced.
_REMEMBERED: Final = timedelta(seconds=0.9)
_TRIGGERS: Final = "notification.notification_trigger_map"
_CHOICES: Final = "notification.trigger_choices"

#: Triggers by the type of event that they hear, each with what the event is to it.
_ByType: TypeAlias = Mapping[str, Sequence[tuple[Trigger, Hears]]]


def _by_type(triggers: Iterable[Trigger]) -> _ByType:
    found: dict[str, list[tuple[Trigger, Hears]]] = {}
    for trigger in triggers:
        for event_type, hears in trigger.hears():
            found.setdefault(event_type, []).append((trigger, hears))
    return found


@dataclass(frozen=True, slots=True)
class _Own:
    """What a tenant has said."""

    #: Those that are off or deleted are among them.
    triggers: _ByType
    choices: Mapping[TriggerId, bool]


@dataclass(frozen=True, slots=True)
class TenantTriggers:
    """What is in force for a tenant: its own, and those of the platform that are switched on."""

    _own: _Own
    _platform: _ByType

    def hearing(self, event_type: str) -> list[tuple[Trigger, Hears]]:
        """Those in force that hear this type, and what it is to each."""
        return [(one, hears) for one, hears in self._all(event_type) if self._is_on(one)]

    def is_heard(self, event_type: str) -> bool:
        """Whether this type matters to any."""
        return bool(self.hearing(event_type) or self.silenced(event_type))

    def silenced(self, event_type: str) -> list[tuple[Trigger, Hears]]:
        """Those that are off or deleted: they make nothing, but what they have planned is still cleared and moved."""
        return [
            (one, hears)
            for one, hears in self._all(event_type)
            if hears is not Hears.FIRE and not self._is_on(one)
        ]

    def switched_off(self, event_type: str) -> list[Trigger]:
        """Those of the platform that would hear this type if they were on."""
        return [
            trigger
            for trigger, _ in self._platform.get(event_type, ())
            if trigger.deleted_at is None and not self._is_on(trigger)
        ]

    def _all(self, event_type: str) -> list[tuple[Trigger, Hears]]:
        return [*self._own.triggers.get(event_type, ()), *self._platform.get(event_type, ())]

    def _is_on(self, trigger: Trigger) -> bool:
        if trigger.deleted_at is not None:
            return False
        if trigger.tenant_id is not None:
            return trigger.enabled
        return self._own.choices.get(trigger.id, trigger.enabled)


class TriggerRegistry:
    """The triggers in force, at most a second old."""

    def __init__(self, db: Database, *, clock: Clock, changes: AnnouncedChanges | None = None) -> None:
        self._db = db
        self._clock = clock
        self._platform: TtlCache[None, _ByType] = TtlCache(
            clock=clock, ttl=_REMEMBERED, size=1, announced=changes
        )
        self._tenants: SetCache[TenantId, _Own] = announced_sets(
            self._load_tenants, changes, _TRIGGERS, _CHOICES, clock=clock, ttl=_REMEMBERED
        )
        if changes is not None:
            changes.on(_TRIGGERS, self._changed)

    async def of_all(self, tenant_ids: Collection[TenantId]) -> dict[TenantId, TenantTriggers]:
        """Those of each tenant. It may take a connection of its own."""
        platform = await self._platform.get_or_fetch(None, self._load_platform)
        own = await self._tenants.of_all(tenant_ids)
        return {tenant_id: TenantTriggers(own[tenant_id], platform) for tenant_id in tenant_ids}

    def invalidate(self) -> None:
        """Look anew at the next question."""
        self._platform.clear()
        self._tenants.clear()

    def _changed(self, key: str | None) -> None:
        if key is None:
            self._platform.clear()

    async def _load_platform(self, _: None) -> _ByType:
        async with self._db.platform() as tx:
            return _by_type(await store.load_platform_triggers(tx, deleted_since=self._deleted_since()))

    async def _load_tenants(self, tenant_ids: Sequence[TenantId]) -> Mapping[TenantId, _Own]:
        async with self._db.tenants(tenant_ids, by_index=True) as tx:
            triggers = await store.load_tenant_triggers(tx, tenant_ids, deleted_since=self._deleted_since())
            choices = await store.load_choices(tx, tenant_ids)
        return {one: _Own(_by_type(triggers[one]), choices[one]) for one in tenant_ids}

    def _deleted_since(self) -> datetime:
        """What was deleted earlier has nothing planned any more."""
        return self._clock.now() - SUBJECTS_KEPT
