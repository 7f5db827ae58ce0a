"""One message for several devices, and what became of it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.support.vendors import MESSAGE
from tidings.contracts.messages import (
    Accepted,
    DeviceRefused,
    OutboundMessage,
    Outcome,
    Refused,
    TryLater,
    Unlearned,
)
from tidings.router.adapters.pending_outcomes import UNANSWERED
from tidings.router.adapters.push.devices import folded, send_to_devices

TAKEN = Accepted(provider_message_id="1")
ALSO_TAKEN = Accepted(provider_message_id="2")
GONE = Refused(reason="gone", code="410")
LARGE = Refused(reason="too large", code="413")
SOON = TryLater(reason="busy", code="503")
LATER = TryLater(reason="slowly", code="429", after=timedelta(seconds=9))
LOST = Unlearned(reason="no answer")


def refused(place: int, why: Refused) -> DeviceRefused:
    return DeviceRefused(place=place, refused=why)


@pytest.mark.parametrize(
    ("outcomes", "found"),
    [
        ([GONE], GONE),
        # Who refused it is told beside the one that took it.
        ([GONE, TAKEN, ALSO_TAKEN, LARGE], replace(TAKEN, others=(refused(0, GONE), refused(3, LARGE)))),
        ([LOST, SOON, TAKEN], TAKEN),
        # Somebody may have it: nobody writes again.
        ([GONE, SOON, LOST], LOST),
        ([GONE, SOON], SOON),
        ([SOON, LATER, GONE], LATER),
        # What a refusal means for an address, it means for the first one; the others are told beside it.
        ([LARGE, GONE], replace(LARGE, others=(refused(1, GONE),))),
        ([GONE, LARGE], replace(GONE, others=(refused(1, LARGE),))),
    ],
)
def test_one_outcome_comes_of_several(outcomes: list[Outcome], found: Outcome) -> None:
    assert folded(dict(enumerate(outcomes))) == found


async def test_each_device_gets_its_own_message() -> None:
    """Each once; a message without further devices as it is."""
    one = replace(MESSAGE, to="a", also_to=("b", "a", "c"))
    other = replace(MESSAGE, to="d")
    sent: list[OutboundMessage] = []

    async def send(messages: Sequence[OutboundMessage], learned: list[Outcome]) -> None:
        sent.extend(messages)
        learned[:] = [SOON, TAKEN, GONE, LATER]

    outcomes = await send_to_devices([one, other], send)

    assert [(message.to, message.also_to) for message in sent] == [("a", ()), ("b", ()), ("c", ()), ("d", ())]
    assert {message.message_id for message in sent} == {MESSAGE.message_id}
    # The second "a" is the first again, and "c" keeps its place.
    assert outcomes == [replace(TAKEN, others=(refused(3, GONE),)), LATER]


async def test_nothing_is_nothing() -> None:
    async def send(messages: Sequence[OutboundMessage], learned: list[Outcome]) -> None:
        raise AssertionError

    learned: list[Outcome] = []
    assert list(await send_to_devices([], send, learned)) == []


async def test_what_was_learned_is_there_when_it_is_cut_off() -> None:
    """A device that took it, one that was asked, one whose turn never came."""
    learned: list[Outcome] = [LOST] * 3
    begun = asyncio.Event()

    async def send(messages: Sequence[OutboundMessage], each: list[Outcome]) -> None:
        each[0], each[1], each[2] = GONE, TAKEN, UNANSWERED
        begun.set()
        await asyncio.Event().wait()

    several = [replace(MESSAGE, to="a", also_to=("b",)), *[replace(MESSAGE, to="c", also_to=("d",))] * 2]
    call = asyncio.ensure_future(send_to_devices(several, send, learned))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert learned[:2] == [replace(TAKEN, others=(refused(0, GONE),)), UNANSWERED]
    assert isinstance(learned[2], TryLater)
    assert learned[2].code == "late"
