"""The use case "a process starts": what adapters say about their vendors' codes becomes the platform's lines."""

from collections.abc import Iterable
from datetime import datetime

from tidings.kernel.db import PlatformTx
from tidings.router.adapters.kind import AdapterKind
from tidings.router.status_map import store
from tidings.router.status_map.model import MAPPED, StatusMeaning


async def seed(tx: PlatformTx, kinds: Iterable[AdapterKind], *, now: datetime) -> int:
    """Write what is missing, and what is still as an earlier release seeded it; how many lines changed.

    What an operator has changed stays. Any number of processes may do this at once, and every start may.
    """
    seeds = {
        (kind.name, one.code): StatusMeaning(canonical=one.canonical, reason=one.reason)
        for kind in kinds
        for one in kind.statuses
        if one.canonical in MAPPED
    }
    return await store.seed_lines(tx, seeds, now=now) if seeds else 0
