"""What an adapter does when its vendor does something: played once, looked at by several questions."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import structlog

from tests.conformance.adapters.player import Player
from tests.support.vendors import opened
from tidings.contracts.adapters import Adapter
from tidings.contracts.messages import OutboundMessage, Outcome

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One case, over."""

    one: Sequence[Outcome]
    seven: Sequence[Outcome]
    checked: Outcome | None
    logs: Sequence[Mapping[str, Any]]


_KNOWN: dict[tuple[str, str], Observed] = {}


async def observe(player: Player, case: str) -> Observed:
    """One message, a set of seven, and a check, with all that was logged."""
    known = _KNOWN.get((player.name, case))
    if known is not None:
        return known
    with structlog.testing.capture_logs() as logs:
        # At once: where the vendor hangs, each waits for its time-out.
        one, seven, checked = await asyncio.gather(
            _asked(player, case, lambda adapter: adapter.send([player.message])),
            _asked(player, case, lambda adapter: adapter.send(several(player, 7))),
            _asked(player, case, lambda adapter: adapter.check()),
        )
    found = _KNOWN[player.name, case] = Observed(one=one, seven=seven, checked=checked, logs=logs)
    return found


async def _asked(player: Player, case: str, ask: Callable[[Adapter], Awaitable[T]]) -> T:
    """What an adapter of its own answers."""
    async with player.play(case) as settings, opened(player.name, settings) as adapter:
        return await ask(adapter)


def several(player: Player, count: int) -> list[OutboundMessage]:
    """So many, each with its own id."""
    return [
        replace(player.message, message_id=f"{player.message.message_id[:-6]}{i:06d}") for i in range(count)
    ]
