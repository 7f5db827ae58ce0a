"""The sandbox's SMSC and the adapter: two codecs that know nothing of each other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from tests.support.smpp import SMS, Ears, bound, smpp_settings
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.clock import SystemClock
from tidings.sandbox.faults import Faults, FaultSpec, Mode
from tidings.sandbox.reading import show
from tidings.sandbox.receipts import ReceiptLog
from tidings.sandbox.scripts import ReceiptScripts
from tidings.sandbox.smpp_server import SmppSandbox
from tidings.sandbox.store import Store


@dataclass
class _Smsc:
    port: int
    server: SmppSandbox
    store: Store
    faults: Faults
    ledger: ReceiptLog


@asynccontextmanager
async def _smsc() -> AsyncIterator[_Smsc]:
    clock = SystemClock()
    store, faults, ledger = Store(clock), Faults(clock), ReceiptLog(most=100)
    server = SmppSandbox(store, faults, ReceiptScripts(), ledger=ledger, clock=clock)
    port = await server.start("127.0.0.1", 0)
    try:
        yield _Smsc(port, server, store, faults, ledger)
    finally:
        await server.stop()


@pytest.mark.parametrize("long_messages", ["udh", "sar", "payload"])
async def test_a_long_message_is_shown_as_one_and_told_of_once(long_messages: str) -> None:
    """However it travels; its receipts name the id that its sender was given."""
    ears = Ears()
    text = "Здравствуй 🍵 " * 20
    async with _smsc() as smsc:
        async with bound(smpp_settings(smsc.port, long_messages=long_messages), ears) as adapter:
            (outcome,) = await adapter.send([replace(SMS, text=text, to="+15005550106")])
            await ears.until(lambda e: len(e.events) == 2)
        (kept,) = [show(one) for one in smsc.store.find()]
        course = smsc.ledger.get(kept.id)

    assert isinstance(outcome, Accepted)
    assert (kept.text, kept.to, kept.from_) == (text, "+15005550106", "12345")
    assert [(event.vendor_message_id, event.status) for event in ears.events] == [
        (outcome.provider_message_id, "delivered"),
        (outcome.provider_message_id, "sent"),
    ]
    assert course is not None
    assert [(one.state, one.tries) for one in course.receipts] == [("answered", 1)] * 2


@pytest.mark.parametrize("text", ["short", "long" * 100])
async def test_a_number_that_nobody_may_write_to(text: str) -> None:
    """Is refused with the first part, and nothing is kept of it."""
    async with _smsc() as smsc, bound(smpp_settings(smsc.port)) as adapter:
        (outcome,) = await adapter.send([replace(SMS, text=text, to="+15005550107")])

    assert isinstance(outcome, Refused)
    assert outcome.code == "ESME_RX_R_APPN"
    assert len(smsc.store) == 0


async def test_what_somebody_writes_is_heard() -> None:
    """Short or long, in any alphabet; also what was written before anybody was there."""
    ears = Ears()
    texts = ["STOP", "ж" * 150, "yes please " * 20]
    async with _smsc() as smsc, bound(smpp_settings(smsc.port), ears):
        taken = [await smsc.server.write(sender="+447700900123", to="12345", text=text) for text in texts]

    assert taken == [True] * 3
    assert [(one.text, one.sender, one.to) for one in ears.inbound] == [
        (text, "+447700900123", "12345") for text in texts
    ]


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        ("reject_permanent", Refused),
        ("reject_temporary", TryLater),
        ("throttle", TryLater),
        ("garbage", Unlearned),
        ("close", Unlearned),
        ("hang", Unlearned),
    ],
)
async def test_faults(mode: Mode, kind: type[Outcome]) -> None:
    """As an SMSC has them."""
    async with _smsc() as smsc, bound(smpp_settings(smsc.port, timeout_seconds=0.2)) as adapter:
        smsc.faults.set(FaultSpec(adapter=cast("Any", "smpp"), mode=mode, count=1))
        (outcome,) = await adapter.send([SMS])
        (after,) = await adapter.send([SMS])

    assert type(outcome) is kind
    assert isinstance(after, Accepted)
