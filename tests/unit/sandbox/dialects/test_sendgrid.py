"""The sandbox as SendGrid: an account sends through it over real sockets and believes what it tells."""

from collections.abc import AsyncIterator

import pytest

from tests.support.spoken import Spoken, spoken
from tests.unit.router.adapters.mails import FULL
from tidings.contracts.messages import Accepted, Refused, TryLater
from tidings.router.adapters.sendgrid.adapter import KIND
from tidings.sandbox.dialects.sendgrid import verification_key


@pytest.fixture
async def sendgrid() -> AsyncIterator[Spoken]:
    more = {"api_key": "SG.hunter2", "webhook_public_key": verification_key("whsec_x")}
    async with spoken(KIND, "whsec_x", **more) as found:
        yield found


@pytest.mark.parametrize(
    ("script", "meanings"),
    [
        ("read", ["accepted", "delivered", "opened"]),
        ("failed", ["failed_perm"]),
        ("unreachable", ["rejected_by_recipient"]),
        ("forged", []),
    ],
)
async def test_a_mail_and_its_events(sendgrid: Spoken, script: str, meanings: list[str]) -> None:
    """Signed with the key that the hook's secret stands for; what is forged is not believed."""
    await sendgrid.script(script)
    outcome = await sendgrid.send(FULL)
    for seconds in (0.1, 0.2, 0.7):
        await sendgrid.advance(seconds)

    assert isinstance(outcome, Accepted)
    assert await sendgrid.words() == [(outcome.provider_message_id, meaning) for meaning in meanings]


async def test_events_that_come_together_are_told_together(sendgrid: Spoken) -> None:
    """As SendGrid does it."""
    outcomes = [await sendgrid.send(FULL) for _ in range(3)]
    await sendgrid.advance(0.1)
    (reading,), refusals = await sendgrid.heard()

    assert refusals == []
    assert [event.vendor_message_id for event in reading.events] == [
        outcome.provider_message_id for outcome in outcomes if isinstance(outcome, Accepted)
    ]


async def test_what_the_page_shows(sendgrid: Spoken) -> None:
    """The words, and no credentials."""
    await sendgrid.send(FULL)
    (shown,) = (await sendgrid.web.get("/messages")).json()["messages"]
    raw = (await sendgrid.web.get(f"/messages/{shown['id']}/raw")).text

    assert (shown["from"], shown["to"], shown["subject"]) == ("orders@shop.example", FULL.to, FULL.subject)
    assert shown["text"] == FULL.text
    assert "hunter2" not in raw


async def test_it_says_no_as_sendgrid_does(sendgrid: Spoken) -> None:
    """In a list of errors."""
    outcomes = []
    for mode in ("reject_permanent", "throttle", "reject_temporary"):
        await sendgrid.web.delete("/faults")
        fault = {"adapter": "http", "vendor": "sendgrid", "mode": mode, "seconds": 30}
        (await sendgrid.web.post("/faults", json=fault)).raise_for_status()
        outcomes.append(await sendgrid.send(FULL))

    refused, throttled, later = outcomes
    assert isinstance(refused, Refused)
    assert refused.code == "personalizations.0.to.0.email"
    assert isinstance(throttled, TryLater)
    assert (throttled.code, throttled.after is None) == ("429", False)
    assert isinstance(later, TryLater)


async def test_credentials_and_mistakes(sendgrid: Spoken) -> None:
    """It knows who asks, and what is missing."""
    signed = {"Authorization": "Bearer x"}
    bare = await sendgrid.web.post("/sendgrid/v3/mail/send", json={})
    empty = await sendgrid.web.post("/sendgrid/v3/mail/send", json={}, headers=signed)
    to = {"personalizations": [{"to": [{"email": "a@b.example"}]}]}
    silent = await sendgrid.web.post("/sendgrid/v3/mail/send", json=to, headers=signed)

    assert await sendgrid.adapter.check() == Accepted()
    assert bare.status_code == 401
    assert (empty.status_code, empty.json()["errors"][0]["field"]) == (400, "personalizations")
    assert (silent.status_code, silent.json()["errors"][0]["field"]) == (400, "content")
