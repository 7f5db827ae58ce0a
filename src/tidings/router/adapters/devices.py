"""All devices of a person at once: a message becomes one for each, and what became of them one outcome again."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, TypeAlias

from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, TryLater, Unlearned
from tidings.router.adapters.cut_off import LATE

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
        await send([one for some in devices for one in some], each)
    finally:
        # Whoever cancels the call looks at it afterwards.
        rest = iter(each)
        outcomes[:] = [folded([next(rest) for _ in some]) for some in devices]
    return outcomes


def folded(outcomes: Sequence[Outcome]) -> Outcome:
    """What became of a message, by what became of it on each device; the first one is where it was addressed to.

    One device is enough. Otherwise nobody may write again while one could have it; and it goes again while one may take it.
    What is refused by all is refused as the first device was: what that means for an address, it means for that one.
    """
    if len(outcomes) == 1:
        return outcomes[0]
    for kind in (Accepted, Unlearned):
        for outcome in outcomes:
            if isinstance(outcome, kind):
                return outcome
    later = [outcome for outcome in outcomes if isinstance(outcome, TryLater)]
    # Whoever comes back before the longest wait is over, comes in vain.
    return max(later, key=lambda outcome: outcome.after or _NOT_SAID) if later else outcomes[0]


def _devices_of(message: OutboundMessage) -> list[OutboundMessage]:
    if not message.also_to:
        return [message]
    return [replace(message, to=to, also_to=()) for to in dict.fromkeys((message.to, *message.also_to))]
