"""The sandbox as Vonage: an account sends through it over real sockets and believes what it tells."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.support.spoken import Spoken, spoken
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import VendorCost
from tidings.contracts.messages import Accepted, Address, Refused, TryLater
from tidings.router.adapters.vonage.adapter import KIND

SMS = replace(
    MESSAGE, channel="sms", to="+93700123456", sender=Address(value="+447700900001"), html=None, subject=None
)


@pytest.fixture
async def vonage() -> AsyncIterator[Spoken]:
    more = {"api_key": "a1b2c3d4", "api_secret": "x", "signature_secret": "old\nsig-secret"}
    async with spoken(KIND, "sig-secret", **more) as found:
        yield found


@pytest.mark.parametrize(
    ("script", "meanings"),
    [
        ("delivered", ["sent", "delivered"]),
        ("unreachable", ["rejected_by_provider"]),
        # Once, and twice more, for each of two.
        ("repeated", ["sent"] * 3 + ["delivered"] * 3),
        ("forged", []),
    ],
)
async def test_a_text_and_its_receipts(vonage: Spoken, script: str, meanings: list[str]) -> None:
    """Signed over the body; what is forged is not believed."""
    await vonage.script(script)
    outcome = await vonage.send(SMS)
    for seconds in (0.1, 0.1, 0.1):
        await vonage.advance(seconds)

    assert isinstance(outcome, Accepted)
    assert await vonage.words() == [(outcome.provider_message_id, meaning) for meaning in meanings]


async def test_it_tells_the_price_and_the_code(vonage: Spoken) -> None:
    """With what is submitted, and with what is rejected."""
    await vonage.script("delivered")
    await vonage.send(SMS)
    await vonage.advance(0.1)
    ((submitted,), _) = await vonage.heard()
    await vonage.script("unreachable")
    await vonage.send(SMS)
    await vonage.advance(0.5)
    readings, _ = await vonage.heard()

    assert submitted.events[0].details is not None
    assert submitted.events[0].details.cost == VendorCost(micros=33_300, currency="EUR")
    (failed,) = [event for reading in readings for event in reading.events if event.word == "rejected"]
    assert failed.details is not None
    assert failed.details.code == "1280"


async def test_it_says_no_as_vonage_does(vonage: Spoken) -> None:
    """In problem documents with its codes."""
    refused = await vonage.send(replace(SMS, to="+15005550107"))
    fault = {"adapter": "http", "vendor": "vonage", "mode": "throttle", "seconds": 30}
    (await vonage.web.post("/faults", json=fault)).raise_for_status()
    throttled = await vonage.send(SMS)

    assert isinstance(refused, Refused)
    assert (refused.code, refused.status) == ("1240", "rejected_by_recipient")
    assert isinstance(throttled, TryLater)
    assert (throttled.code, throttled.after is None) == ("1000", False)
    assert await vonage.adapter.check() == Accepted()


async def test_a_person_writes_back(vonage: Spoken) -> None:
    """The number is named as messages name their sender."""
    outcome = await vonage.send(SMS)
    told = await vonage.write_back(**{"from": "+93700123456", "to": "+447700900001", "text": "STOP now"})
    ((reading,), _) = await vonage.heard()

    (inbound,) = reading.inbound
    assert told.json()["answer"] == 200
    assert (inbound.sender, inbound.text) == ("+93700123456", "STOP now")
    assert isinstance(outcome, Accepted)
    assert inbound.to == outcome.sender
