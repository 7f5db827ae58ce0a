"""The sandbox as Twilio: an account sends through it over real sockets and believes what it tells."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.support.spoken import Spoken, spoken
from tests.support.vendors import MESSAGE
from tidings.contracts.messages import Accepted, Address, Refused, TryLater
from tidings.router.adapters.twilio.adapter import KIND

SMS = replace(
    MESSAGE, channel="sms", to="+93700123456", sender=Address(value="+15017122661"), html=None, subject=None
)
SERVICE = "MG" + "2" * 32


@pytest.fixture
async def twilio() -> AsyncIterator[Spoken]:
    more = {"account_sid": "AC" + "1" * 32, "auth_token": "12345", "messaging_service_sid": SERVICE}
    async with spoken(KIND, "12345", sms_from="+15017122661", whatsapp_from="+14155238886", **more) as found:
        yield found


@pytest.mark.parametrize(
    ("channel", "script", "meanings"),
    [
        ("sms", "delivered", ["sent", "delivered"]),
        ("whatsapp", "read", ["sent", "delivered", "delivered_read"]),
        ("voice", "delivered", ["sent", "delivered"]),
        ("sms", "failed", ["failed_perm"]),
        ("voice", "unreachable", ["failed_temp"]),
        ("sms", "forged", []),
    ],
)
async def test_a_message_and_its_receipts(
    twilio: Spoken, channel: str, script: str, meanings: list[str]
) -> None:
    """Each channel in its own fields, signed; what is forged is not believed."""
    await twilio.script(script)
    outcome = await twilio.send(replace(SMS, channel=channel))
    for seconds in (0.1, 0.2, 0.7):
        await twilio.advance(seconds)

    assert isinstance(outcome, Accepted)
    told = await twilio.words()
    assert told == [(outcome.provider_message_id, meaning) for meaning in meanings]
    assert (outcome.provider_message_id or "")[:2] == ("CA" if channel == "voice" else "SM")


async def test_what_the_page_shows(twilio: Spoken) -> None:
    """The text itself, also of a call; no credentials."""
    await twilio.send(SMS)
    await twilio.send(replace(SMS, channel="voice", text="1 < 2"))
    shown = (await twilio.web.get("/messages")).json()["messages"]
    raw = (await twilio.web.get(f"/messages/{shown[0]['id']}/raw")).text

    assert [(one["channel"], one["to"], one["text"]) for one in shown] == [
        ("sms", "+93700123456", "The secret of the tea"),
        ("voice", "+93700123456", "1 < 2"),
    ]
    assert (shown[0]["adapter"], shown[0]["from"]) == ("twilio", "+15017122661")
    assert "authorization" not in raw.lower()
    assert "The secret of the tea" in (await twilio.web.get(f"/messages/{shown[0]['id']}/html")).text


async def test_it_says_no_as_twilio_does(twilio: Spoken) -> None:
    """Faults and scripts in Twilio's own codes; the number that refuses does, over every channel."""
    refused = await twilio.send(replace(SMS, to="+15005550107"))
    outcomes = []
    for mode in ("reject_permanent", "throttle", "reject_temporary"):
        await twilio.web.delete("/faults")
        fault = {"adapter": "http", "vendor": "twilio", "mode": mode, "seconds": 30}
        (await twilio.web.post("/faults", json=fault)).raise_for_status()
        outcomes.append(await twilio.send(SMS))

    assert isinstance(refused, Refused)
    assert (refused.code, refused.status) == ("21610", "rejected_by_recipient")
    permanent, throttled, temporary = outcomes
    assert isinstance(permanent, Refused)
    assert permanent.code == "21211"
    assert isinstance(throttled, TryLater)
    assert throttled.code == "20429"
    assert throttled.after is not None
    assert isinstance(temporary, TryLater)
    assert temporary.code == "20503"


async def test_a_person_writes_back(twilio: Spoken) -> None:
    """To a number, a WhatsApp account, a messaging service; nobody writes to a call."""
    told = [
        await twilio.write_back(**{"from": "+93700123456", "to": "+15017122661", "text": "سلام"}),
        await twilio.write_back(
            **{"from": "+93700123456", "to": "+14155238886", "text": "hi", "channel": "whatsapp"}
        ),
        await twilio.write_back(**{"from": "+93700123456", "to": SERVICE, "text": "yes"}),
    ]
    await twilio.send(SMS)
    await twilio.send(replace(SMS, channel="voice"))
    shown = (await twilio.web.get("/messages")).json()["messages"]
    answerable = [(await twilio.web.get(f"/messages/{one['id']}")).json()["answerable"] for one in shown]
    nobody = await twilio.write_back(**{"from": "+1", "to": "+2", "text": "", "channel": "voice"})
    readings, refusals = await twilio.heard()

    assert [one.json()["answer"] for one in told] == [200] * 3
    assert refusals == []
    assert [(one.channel, one.sender, one.to, one.text) for r in readings for one in r.inbound] == [
        ("sms", "+93700123456", "+15017122661", "سلام"),
        ("whatsapp", "+93700123456", "+14155238886", "hi"),
        ("sms", "+93700123456", SERVICE, "yes"),
    ]
    assert answerable == [True, False]
    assert nobody.status_code == 404


async def test_credentials_and_mistakes(twilio: Spoken) -> None:
    """It knows who asks, and what is missing."""
    place = f"/twilio/2010-04-01/Accounts/{'AC' + '1' * 32}"
    signed = {"auth": ("AC", "x")}
    bare = await twilio.web.post(f"{place}/Messages.json", data={"To": "+93700123456"})
    empty = await twilio.web.post(f"{place}/Messages.json", data={"To": "+9"}, **signed)  # type: ignore[arg-type]
    content = {
        "To": "whatsapp:+9",
        "From": "whatsapp:+1",
        "ContentSid": "HX1",
        "ContentVariables": '{"1":""}',
    }
    unfilled = await twilio.web.post(f"{place}/Messages.json", data=content, **signed)  # type: ignore[arg-type]
    elsewhere = await twilio.web.get("/twilio/2008-08-01/Accounts.json", **signed)  # type: ignore[arg-type]

    assert await twilio.adapter.check() == Accepted()
    assert (bare.status_code, bare.json()["code"]) == (401, 20003)
    assert (empty.status_code, empty.json()["code"]) == (400, 21603)
    assert (unfilled.status_code, unfilled.json()["code"]) == (400, 21656)
    assert elsewhere.status_code == 404
