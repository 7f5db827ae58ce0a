"""All devices of a person at once: a message becomes one for each, and what became of them one outcome again."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, TypeAlias

from tidings.contracts.messages import (
    Accepted,
    DeviceRefused,
    OutboundMessage,
    Outcome,
    Refused,
    TryLater,
    Unlearned,
)
from tidings.router.adapters.pending_outcomes import LATE

#: Sends a set of messages to one device each, and keeps the list up to date meanwhile.
SendEach: TypeAlias = Callable[[Sequence[OutboundMessage], list[Outcome]], Awaitable[object]]
_NOT_SAID: Final = timedelta(0)


async def send_to_devices(
    messages: Sequence[OutboundMessage], send: SendEach, learned: list[Outcome] | None = None
) -> Sequence[Outcome]:
    """One outcome for each message, as `Adapter.send` wants it; also when it is cut off."""
    outcomes: list[Outcome] = [] if learned is None else learned
    outcomes[:] = [LATE] * len(messages)
    if not messages:
        return outcomes
    devices = [_devices_of(message) for message in messages]
    each: list[Outcome] = [LATE] * sum(map(len, devices))
    try:
        await send([one for some in devices for one in some.values()], each)
    finally:
        # A caller that cancels the call looks at it afterwards.
        rest = iter(each)
        outcomes[:] = [folded({place: next(rest) for place in some}) for some in devices]
    return outcomes


def folded(outcomes: Mapping[int, Outcome]) -> Outcome:
    """What became of a message, by what became of it on each device; the first one is where it was addressed to.

    One device is enough. Otherwise it is not sent again while one could have it; and it goes again while one may take it.
    What is refused by all is refused as the first device was: what that means for an address, it means for that one. A
    device that refuses it while nothing more is to come of the others is told beside: it may be one that is gone.
    """
    first, *further = outcomes.values()
    if not further:
        return first
    refused = {place: one for place, one in outcomes.items() if isinstance(one, Refused)}
    taken = next((one for one in outcomes.values() if isinstance(one, Accepted)), None)
    if taken is not None:
        return replace(taken, others=_told(refused)) if refused else taken
    unlearned = next((one for one in outcomes.values() if isinstance(one, Unlearned)), None)
    if unlearned is not None:
        return unlearned
    later = [one for one in outcomes.values() if isinstance(one, TryLater)]
    if later:
        # A retry before the longest wait is over is in vain.
        return max(later, key=lambda one: one.after or _NOT_SAID)
    place, one = next(iter(refused.items()))
    del refused[place]
    return replace(one, others=_told(refused))


def _told(refused: Mapping[int, Refused]) -> tuple[DeviceRefused, ...]:
    return tuple(DeviceRefused(place=place, refused=one) for place, one in refused.items())


def _devices_of(message: OutboundMessage) -> dict[int, OutboundMessage]:
    """One message for each device, by its place."""
    if not message.also_to:
        return {0: message}
    places: dict[str, int] = {}
    for place, to in enumerate((message.to, *message.also_to)):
        places.setdefault(to, place)
    return {place: replace(message, to=to, also_to=()) for to, place in places.items()}
