"""A set in the hands of an adapter that hangs, falls, or can't count."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from tests.support.vendors import messages
from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, TryLater, Unlearned
from tidings.router.vendors.send_batch import hand_over

LATE = TryLater(reason="never begun", code="late")


class Odd:
    """Learns what became of the first, does not begin the last, and then does as it is told."""

    name = "odd"
    channels = frozenset({"email"})
    capabilities = Capabilities()
    longest_send = timedelta(seconds=0.05)

    def __init__(self, then: str) -> None:
        self._then = then
        self.within: float | None = None

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        self.within = within
        if learned is not None:
            learned[0], learned[-1] = Accepted(provider_message_id="m-1"), LATE
        if self._then == "hangs":
            await asyncio.Event().wait()
        if self._then == "falls":
            raise KeyError("a mistake of ours")
        return [Accepted() for _ in messages][self._then == "miscounts" :]

    async def check(self) -> Outcome | None:
        return None

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("then", ["hangs", "falls"])
async def test_what_was_learned_is_kept(then: str) -> None:
    """Only those without an answer are unlearned: the others need not be sent to twice, and can be sent to at all."""
    outcomes = await hand_over(Odd(then), messages(3), within=None)

    assert outcomes[0] == Accepted(provider_message_id="m-1")
    assert isinstance(outcomes[1], Unlearned)
    assert outcomes[2] == LATE


async def test_an_adapter_that_can_not_count_is_not_believed() -> None:
    outcomes = await hand_over(Odd("miscounts"), messages(3), within=None)

    assert [type(outcome) for outcome in outcomes] == [Unlearned] * 3


@pytest.mark.parametrize("within", [None, 0.001])
async def test_the_time_of_a_message_is_not_the_time_of_the_set(within: Any) -> None:
    adapter = Odd("answers")

    outcomes = await hand_over(adapter, messages(3), within=within)

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 3
    assert adapter.within == within
