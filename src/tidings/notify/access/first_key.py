"""The installation makes the platform's first API key: once, however many start at the same time."""

from dataclasses import dataclass, field

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.notify.access import store
from tidings.notify.access.create import create_key
from tidings.notify.access.ledger import KeyLedger
from tidings.notify.access.model import ApiKey, KeySpec, credential


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformKey:
    """A key of the platform, with its text where it was made just now."""

    key: ApiKey
    #: Shown once; None for a key that was there before.
    credential: str | None = field(default=None, repr=False)


async def ensure_platform_key(
    db: Database, *, name: str, actor: str, ledger: KeyLedger, clock: Clock, one_more: bool = False
) -> PlatformKey:
    """The platform's newest key, or its first, made now; `one_more`: made now in any case.

    One that was revoked counts: who has revoked every key did so on purpose.
    """
    async with db.platform() as tx:
        await store.lock_platform_keys(tx)
        known = await store.list_keys(tx, after_id=None, limit=1)
        if known and not one_more:
            return PlatformKey(key=known[0])
        spec = KeySpec(name=name, role="platform.channel.admin", scopes=None)
        key, secret = await create_key(tx, spec, grantor=None, actor=actor, ledger=ledger, clock=clock)
    return PlatformKey(key=key, credential=credential(key.id, secret))
