"""The sandbox as Amazon SES: an account sends through it over real sockets and believes what SNS tells."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.support.spoken import Spoken, spoken
from tests.unit.router.adapters.mails import FULL
from tidings.contracts.messages import Accepted, Refused, TryLater
from tidings.router.adapters.ses.adapter import KIND
from tidings.router.adapters.ses.callbacks import SesForm
from tidings.sandbox.dialects.registry import DIALECTS
from tidings.sandbox.dialects.ses import SesDialect

TOPIC = "arn:aws:sns:eu-west-1:123456789012:mail"


@pytest.fixture
async def ses() -> AsyncIterator[Spoken]:
    dialect, form = DIALECTS["ses"], KIND.callbacks
    assert isinstance(dialect, SesDialect)
    assert isinstance(form, SesForm)
    form.certificates.know(dialect.certificate_url(TOPIC), dialect.certificate)
    more = {
        "region": "eu-west-1",
        "access_key_id": "AKIDEXAMPLE",
        "secret_access_key": "hunter2",
        "topics": [TOPIC],
    }
    async with spoken(KIND, TOPIC, **more) as found:
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
async def test_a_mail_and_its_events(ses: Spoken, script: str, meanings: list[str]) -> None:
    """In notifications of the topic, signed with the sandbox's certificate; what is forged is not believed."""
    await ses.script(script)
    outcome = await ses.send(FULL)
    for seconds in (0.1, 0.2, 0.7):
        await ses.advance(seconds)

    assert isinstance(outcome, Accepted)
    assert await ses.words() == [(outcome.provider_message_id, meaning) for meaning in meanings]


async def test_a_second_step_has_a_tag_that_is_taken(ses: Spoken) -> None:
    """Amazon refuses a mail with a dot in a tag, and the id of a second step has one."""
    assert isinstance(await ses.send(replace(FULL, message_id=f"{FULL.message_id}.2")), Accepted)


async def test_what_the_page_shows(ses: Spoken) -> None:
    """The words of the mail inside, and no credentials."""
    await ses.send(FULL)
    (shown,) = (await ses.web.get("/messages")).json()["messages"]
    raw = (await ses.web.get(f"/messages/{shown['id']}/raw")).text

    assert (shown["from"], shown["to"], shown["subject"]) == ("orders@shop.example", FULL.to, FULL.subject)
    assert (shown["text"] or "").strip() == FULL.text
    assert (shown["html"] or "").strip() == FULL.html
    assert "AKIDEXAMPLE" not in raw


async def test_it_says_no_as_ses_does(ses: Spoken) -> None:
    """By the kind of error."""
    outcomes = []
    for mode in ("reject_permanent", "throttle", "reject_temporary"):
        await ses.web.delete("/faults")
        fault = {"adapter": "http", "vendor": "ses", "mode": mode, "seconds": 30}
        (await ses.web.post("/faults", json=fault)).raise_for_status()
        outcomes.append(await ses.send(FULL))

    refused, throttled, later = outcomes
    assert isinstance(refused, Refused)
    assert refused.code == "BadRequestException"
    assert isinstance(throttled, TryLater)
    assert (throttled.code, throttled.after is None) == ("TooManyRequestsException", False)
    assert isinstance(later, TryLater)


async def test_credentials_and_mistakes(ses: Spoken) -> None:
    """It knows who asks, and what is missing."""
    place = "/ses/v2/email/outbound-emails"
    proof = {
        "Authorization": "AWS4-HMAC-SHA256 Credential=AKID/20150830/eu-west-1/ses/aws4_request, "
        f"SignedHeaders=host;x-amz-date, Signature={'0' * 64}"
    }
    bare = await ses.web.post(place, json={})
    nobody = await ses.web.post(place, json={}, headers=proof)
    to = {"Destination": {"ToAddresses": ["a@b.example"]}, "Content": {"Raw": {"Data": "!"}}}
    silent = await ses.web.post(place, json=to, headers=proof)

    assert await ses.adapter.check() == Accepted()
    assert (bare.status_code, bare.headers["x-amzn-errortype"]) == (403, "UnrecognizedClientException")
    assert (nobody.status_code, silent.status_code) == (400, 400)
