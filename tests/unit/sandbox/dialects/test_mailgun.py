"""The sandbox as Mailgun: an account sends through it over real sockets and believes what it tells."""

from collections.abc import AsyncIterator

import pytest

from tests.support.spoken import Spoken, spoken
from tests.unit.router.adapters.mails import FULL
from tidings.contracts.messages import Accepted, Refused, TryLater
from tidings.router.adapters.mailgun.adapter import KIND


@pytest.fixture
async def mailgun() -> AsyncIterator[Spoken]:
    more = {"domain": "mg.shop.example", "api_key": "hunter2", "webhook_signing_key": "whsec_x"}
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
async def test_a_mail_and_its_events(mailgun: Spoken, script: str, meanings: list[str]) -> None:
    """Each in a request of its own, with the proof in it; what is forged is not believed."""
    await mailgun.script(script)
    outcome = await mailgun.send(FULL)
    for seconds in (0.1, 0.2, 0.7):
        await mailgun.advance(seconds)

    assert isinstance(outcome, Accepted)
    assert await mailgun.words() == [(outcome.provider_message_id, meaning) for meaning in meanings]


async def test_what_the_page_shows(mailgun: Spoken) -> None:
    """The words of the mail inside the form, and no credentials."""
    await mailgun.send(FULL)
    (shown,) = (await mailgun.web.get("/messages")).json()["messages"]
    raw = (await mailgun.web.get(f"/messages/{shown['id']}/raw")).text

    assert (shown["from"], shown["to"], shown["subject"]) == ("orders@shop.example", FULL.to, FULL.subject)
    assert (shown["text"] or "").strip() == FULL.text
    assert (shown["html"] or "").strip() == FULL.html
    assert "hunter2" not in raw


async def test_it_says_no_as_mailgun_does(mailgun: Spoken) -> None:
    """In a sentence."""
    outcomes = []
    for mode in ("reject_permanent", "throttle", "reject_temporary"):
        await mailgun.web.delete("/faults")
        fault = {"adapter": "http", "vendor": "mailgun", "mode": mode, "seconds": 30}
        (await mailgun.web.post("/faults", json=fault)).raise_for_status()
        outcomes.append(await mailgun.send(FULL))

    refused, throttled, later = outcomes
    assert isinstance(refused, Refused)
    assert refused.code == "400:to"
    assert isinstance(throttled, TryLater)
    assert throttled.after is not None
    assert isinstance(later, TryLater)


async def test_credentials_and_mistakes(mailgun: Spoken) -> None:
    """It knows who asks, and what is missing; pieces are taken as well as a whole mail."""
    place, known = "/mailgun/v3/mg.shop.example/messages", ("api", "x")
    bare = await mailgun.web.post(place, data={"to": "a@b.example"})
    nobody = await mailgun.web.post(place, data={"text": "x"}, auth=known)
    pieces = await mailgun.web.post(
        place, data={"to": "a@b.example", "from": "c@d.example", "text": "x"}, auth=known
    )
    elsewhere = await mailgun.web.post("/mailgun/v3/messages", auth=known)

    assert await mailgun.adapter.check() == Accepted()
    assert bare.status_code == 401
    assert nobody.status_code == 400
    assert pieces.json()["id"].startswith("<sbx_")
    assert (elsewhere.status_code, elsewhere.text) == (200, "Mailgun Magnificent API")
