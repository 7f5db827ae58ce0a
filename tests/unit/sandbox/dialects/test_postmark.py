"""The sandbox as Postmark: an account sends through it over real sockets and believes what it tells."""

from collections.abc import AsyncIterator

import pytest

from tests.support.spoken import Spoken, spoken
from tests.unit.router.adapters.mails import FULL
from tidings.contracts.messages import Accepted, Refused, TryLater
from tidings.router.adapters.postmark.adapter import KIND


@pytest.fixture
async def postmark() -> AsyncIterator[Spoken]:
    more = {"server_token": "hunter2", "webhook_user": "tidings", "webhook_password": "secret-x"}
    async with spoken(KIND, "tidings:secret-x", **more) as found:
        yield found


@pytest.mark.parametrize(
    ("script", "meanings"),
    [
        ("read", ["delivered", "opened"]),
        ("failed", ["failed_perm"]),
        ("unreachable", ["rejected_by_recipient"]),
        ("forged", []),
    ],
)
async def test_a_mail_and_its_records(postmark: Spoken, script: str, meanings: list[str]) -> None:
    """With user and password; what is forged is not believed. That a mail is on its way is not told."""
    await postmark.script(script)
    outcome = await postmark.send(FULL)
    for seconds in (0.1, 0.2, 0.7):
        await postmark.advance(seconds)

    assert isinstance(outcome, Accepted)
    assert await postmark.words() == [(outcome.provider_message_id, meaning) for meaning in meanings]


async def test_what_the_page_shows(postmark: Spoken) -> None:
    """The words, and no credentials."""
    await postmark.send(FULL)
    (shown,) = (await postmark.web.get("/messages")).json()["messages"]
    raw = (await postmark.web.get(f"/messages/{shown['id']}/raw")).text

    assert (shown["from"], shown["to"], shown["subject"]) == ("orders@shop.example", FULL.to, FULL.subject)
    assert (shown["text"], shown["html"]) == (FULL.text, FULL.html)
    assert "hunter2" not in raw


async def test_it_says_no_as_postmark_does(postmark: Spoken) -> None:
    """By its codes."""
    outcomes = []
    for mode in ("reject_permanent", "throttle", "reject_temporary"):
        await postmark.web.delete("/faults")
        fault = {"adapter": "http", "vendor": "postmark", "mode": mode, "seconds": 30}
        (await postmark.web.post("/faults", json=fault)).raise_for_status()
        outcomes.append(await postmark.send(FULL))
    await postmark.web.delete("/faults")
    await postmark.script("rejected")
    inactive = await postmark.send(FULL)

    refused, throttled, later = outcomes
    assert isinstance(refused, Refused)
    assert refused.code == "300:to"
    assert isinstance(throttled, TryLater)
    assert (throttled.code, throttled.after is None) == ("429", False)
    assert isinstance(later, TryLater)
    assert later.code == "100"
    assert isinstance(inactive, Refused)
    assert inactive.code == "406"


async def test_credentials_and_mistakes(postmark: Spoken) -> None:
    """It knows who asks, and what is missing."""
    token = {"X-Postmark-Server-Token": "x"}
    bare = await postmark.web.post("/postmark/email", json={})
    nobody = await postmark.web.post("/postmark/email", json={"From": "a@b.example"}, headers=token)
    silent = await postmark.web.post("/postmark/email", json={"To": "a@b.example"}, headers=token)

    assert await postmark.adapter.check() == Accepted()
    assert (bare.status_code, bare.json()["ErrorCode"]) == (401, 10)
    assert (nobody.status_code, nobody.json()["ErrorCode"]) == (422, 300)
    assert (silent.status_code, silent.json()["ErrorCode"]) == (422, 300)
