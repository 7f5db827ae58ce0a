"""The sandbox as a voice gateway: an account sends through it over real sockets and believes what it tells."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.support.spoken import Spoken, spoken
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import VendorCost
from tidings.contracts.messages import Accepted, Refused
from tidings.router.adapters.voice_otp_gateway.adapter import KIND

SECRET = "whsec_aHVudGVyMg=="
CALL = replace(MESSAGE, channel="voice", to="+93700123456", text="Your code is 4829", html=None, subject=None)


@pytest.fixture
async def gateway() -> AsyncIterator[Spoken]:
    async with spoken(KIND, SECRET, api_token="t", callback_secret=SECRET) as found:
        yield found


@pytest.mark.parametrize(
    ("script", "meanings"),
    [
        ("delivered", ["sent", "delivered"]),
        ("failed", ["failed_perm"]),
        # It has no word for what was read.
        ("read", ["sent", "delivered"]),
        ("forged", []),
    ],
)
async def test_a_call_and_its_receipts(gateway: Spoken, script: str, meanings: list[str]) -> None:
    """Ringing, then completed."""
    await gateway.script(script)
    outcome = await gateway.send(CALL)
    for seconds in (0.1, 0.2, 0.7):
        await gateway.advance(seconds)

    assert isinstance(outcome, Accepted)
    assert await gateway.words() == [(outcome.provider_message_id, meaning) for meaning in meanings]


async def test_a_repeat_is_the_same_call(gateway: Spoken) -> None:
    """Known by its reference; the receipts of two calls that are due together travel together."""
    await gateway.script("sent")
    first, again = await gateway.send(CALL), await gateway.send(CALL)
    other = await gateway.send(replace(CALL, message_id="another"))
    await gateway.advance(0.1)

    assert first == again != other
    assert len(gateway.hooked.heard) == 1
    assert len(await gateway.words()) == 2


async def test_the_price_is_told(gateway: Spoken) -> None:
    """With the call's end."""
    await gateway.script("delivered_after:1")
    await gateway.send(CALL)
    await gateway.advance(1)
    ((reading,), _) = await gateway.heard()

    assert reading.events[0].details is not None
    assert reading.events[0].details.cost == VendorCost(micros=50_000, currency="USD")
    assert reading.events[0].details.reason == "lasted 21 s"


async def test_it_says_no_in_its_own_codes(gateway: Spoken) -> None:
    """And nobody writes to it."""
    refused = await gateway.send(replace(CALL, to="+15005550107"))
    written = await gateway.write_back(**{"from": "+1", "to": "+2", "text": "hi"})

    assert isinstance(refused, Refused)
    assert refused.code == "blocked"
    assert written.status_code == 404
    assert await gateway.adapter.check() == Accepted()
