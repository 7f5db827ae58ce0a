"""The sets of triggers that are shipped: the platform's rows, switched off until a tenant adopts a set.

A mail that nobody expected is worse than none, so nothing of a set fires by itself. A new release brings its own
version of a trigger, unless the platform has changed it.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

import msgspec

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx
from tidings.kernel.errors import AlreadyExistsError
from tidings.notify.triggers import store
from tidings.notify.triggers.change import TriggerChanger
from tidings.notify.triggers.wire import PutTrigger

ACTOR: Final = "tidings"


class _Shipped(PutTrigger, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A trigger as it stands in a set's file."""

    #: What it is known by, from release to release.
    key: str

    def wish(self, *, enabled: bool) -> PutTrigger:
        """The trigger that it is to be."""
        names = PutTrigger.__struct_fields__
        return PutTrigger(**{name: getattr(self, name) for name in names} | {"enabled": enabled})


def read_sets() -> Mapping[str, list[_Shipped]]:
    """Every set by its name."""
    folder = files(__package__) / "sets"
    return {
        file.name.removesuffix(".json"): msgspec.json.decode(file.read_bytes(), type=list[_Shipped])
        for file in sorted(folder.iterdir(), key=lambda one: one.name)
        if file.name.endswith(".json")
    }


async def publish_trigger_sets(db: Database, *, audit: AuditLog, clock: Clock) -> int:
    """Make the shipped triggers the platform's; how many were new or changed. Done again, or by two at once, it changes nothing."""
    changer = TriggerChanger(audit=audit, clock=clock)
    count = 0
    for set_name, shipped in read_sets().items():
        for one in shipped:
            try:
                async with db.platform() as tx:
                    count += await _publish(tx, set_name, one, changer)
            except AlreadyExistsError:
                continue  # Another process has made it meanwhile.
    return count


async def _publish(tx: PlatformTx, set_name: str, shipped: _Shipped, changer: TriggerChanger) -> bool:
    known = {
        trigger.set_key: trigger
        for trigger in await store.load_platform_triggers(tx)
        if trigger.set_name == set_name
    }
    there = known.get(shipped.key)
    if there is None:
        wish = shipped.wish(enabled=False)
        await changer.create(tx, wish, actor=ACTOR, set_name=set_name, set_key=shipped.key)
        return True
    versions = await store.list_versions(tx, there.id)
    if any(version.changed_by != ACTOR for version in versions):
        return False
    changed = await changer.change(tx, there, shipped.wish(enabled=there.enabled), actor=ACTOR)
    return changed.trigger.version != there.version
