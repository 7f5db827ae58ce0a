"""Amazon SES: what goes over the wire, and what its answers mean."""

import base64
import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.support.played_http import answer
from tests.support.vendors import MESSAGE
from tests.unit.router.adapters.mails import FULL, NOW, answered, head_of, playing
from tidings.contracts.messages import Accepted, Refused, TryLater, Unlearned
from tidings.router.adapters.mail.mime import build
from tidings.router.adapters.ses.adapter import KIND, SesSettings, _usual_url
from tidings.router.adapters.ses.sigv4 import Credentials, signed

SETTINGS = {"region": "eu-west-1", "access_key_id": "AKIDEXAMPLE", "secret_access_key": "hunter2"}
TAKEN = answer("200 OK", b'{"MessageId": "m-1"}')


async def test_the_request() -> None:
    """The whole mail as we build it, our id as a tag, all of it signed."""
    settings = {**SETTINGS, "configuration_set": "mail", "session_token": "hunter3"}
    async with playing(KIND, settings, TAKEN) as (adapter, vendor):
        outcomes = await adapter.send([FULL])

    assert list(outcomes) == [Accepted(provider_message_id="m-1")]
    line, headers = head_of(vendor.heard[0])
    body = vendor.heard[0][1]
    assert line == "POST /v2/email/outbound-emails HTTP/1.1"
    assert json.loads(body) == {
        "FromEmailAddress": "orders@shop.example",
        "Destination": {"ToAddresses": ["laila.unmistakable@example.test"]},
        "Content": {"Raw": {"Data": base64.b64encode(build(FULL, at=NOW).data()).decode()}},
        "EmailTags": [{"Name": "tidings_id", "Value": FULL.message_id}],
        "ConfigurationSetName": "mail",
    }
    # As Amazon would do it, with the address that the connection itself named.
    again = signed(
        Credentials(access_key_id="AKIDEXAMPLE", secret_access_key="hunter2", session_token="hunter3"),
        method="POST",
        url=f"http://{headers['host']}/v2/email/outbound-emails",
        headers={"Content-Type": "application/json"},
        body=body,
        region="eu-west-1",
        service="ses",
        at=NOW,
    )
    assert {name.lower(): value for name, value in again.items()}.items() <= headers.items()


async def test_a_second_step_has_a_tag_that_amazon_takes() -> None:
    """Letters, digits, - and _; Amazon refuses a mail with any other in a tag, and a step's id has a dot."""
    async with playing(KIND, SETTINGS, TAKEN) as (adapter, vendor):
        await adapter.send([replace(FULL, message_id="ntf_0123.2.1")])

    assert json.loads(vendor.heard[0][1])["EmailTags"] == [{"Name": "tidings_id", "Value": "ntf_0123-2-1"}]


async def test_orders_come_from_the_account_alone() -> None:
    """A header that chooses another configuration set or somebody else's identity is refused."""
    orders = [
        replace(MESSAGE, headers=((name, "x"),)) for name in ("X-SES-CONFIGURATION-SET", "X-Ses-From-Arn")
    ]
    async with playing(KIND, SETTINGS, TAKEN) as (adapter, vendor):
        outcomes = await adapter.send([*orders, MESSAGE])

    assert [type(one) for one in outcomes] == [Refused, Refused, Accepted]
    assert "ConfigurationSetName" not in json.loads(vendor.heard[0][1])


def _error(kind: str | None, words: str = "words", *, status: str = "400 Bad Request", **body: str) -> bytes:
    headers = f"x-amzn-ErrorType: {kind}\r\n" if kind else ""
    return answer(status, json.dumps({"message": words, **body}).encode(), headers=headers)


@pytest.mark.parametrize(
    ("reply", "kind", "code"),
    [
        (_error("MessageRejected"), Refused, "MessageRejected"),
        (_error("MessageRejected:http://internal.amazon.com/x/"), Refused, "MessageRejected"),
        (
            _error("MessageRejected", "Email address is not verified. The following …"),
            TryLater,
            "MessageRejected",
        ),
        (_error("BadRequestException"), Refused, "BadRequestException"),
        (_error("MailFromDomainNotVerifiedException"), TryLater, "MailFromDomainNotVerifiedException"),
        (_error("AccountSuspendedException"), TryLater, "AccountSuspendedException"),
        (_error("SendingPausedException"), TryLater, "SendingPausedException"),
        (_error("LimitExceededException"), TryLater, "LimitExceededException"),
        (_error("ThrottlingException"), TryLater, "ThrottlingException"),
        (_error("NotFoundException", status="404 Not Found"), TryLater, "NotFoundException"),
        (_error("SignatureDoesNotMatch", status="403 Forbidden"), TryLater, "SignatureDoesNotMatch"),
        (_error(None, status="403 Forbidden", __type="com.amazon.coral#New"), TryLater, "New"),
        (_error("Something", status="400 Bad Request"), Refused, "Something"),
        (answer("200 OK", b"{}"), Unlearned, None),
        (answer("504 Gateway Timeout"), Unlearned, None),
    ],
)
async def test_answers(reply: bytes, kind: type[Any], code: str | None) -> None:
    """By the kind of error; what is wrong with the account is no fault of the message."""
    outcome = await answered(KIND, SETTINGS, reply)

    assert type(outcome) is kind
    assert getattr(outcome, "code", None) == code


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (answer("200 OK", b'{"SendingEnabled": true}'), Accepted),
        (answer("200 OK", b'{"SendingEnabled": false}'), TryLater),
        (_error("UnrecognizedClientException", status="403 Forbidden"), Refused),
        (_error("AccessDeniedException", status="403 Forbidden"), TryLater),
    ],
)
async def test_a_check_asks_about_the_account(reply: bytes, kind: type[Any]) -> None:
    """Signed as well, and nothing is sent."""
    async with playing(KIND, SETTINGS, reply) as (adapter, vendor):
        checked = await adapter.check()

    assert type(checked) is kind
    line, headers = head_of(vendor.heard[0])
    assert line == "GET /v2/email/account HTTP/1.1"
    assert "SignedHeaders=host;x-amz-date," in headers["authorization"]


def test_where_a_region_is() -> None:
    """China has its own ending."""
    assert _usual_url("eu-west-1") == "https://email.eu-west-1.amazonaws.com"
    assert _usual_url("cn-north-1") == "https://email.cn-north-1.amazonaws.com.cn"


@pytest.mark.parametrize(
    "more",
    [{"region": "eu-west-1/x"}, {"topics": ["arn:aws:sqs:eu-west-1:123456789012:x"]}, {"topics": ["*"]}],
)
def test_settings_are_strict(more: dict[str, Any]) -> None:
    """A region ends up in a host's name, a topic is who is believed."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**SETTINGS, **more}, SesSettings)
