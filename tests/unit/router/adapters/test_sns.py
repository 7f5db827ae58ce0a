"""Notifications of Amazon SNS: whose are believed."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.played_http import answer, played_http
from tests.unit.router.adapters.notifications import (
    AT,
    CERTIFICATE,
    CONFIRMATION,
    HOST,
    KEYS,
    NOTIFICATION,
    SIGNED,
    SIGNED_CONFIRMATION,
    TOPIC,
    Amazon,
    form,
    pem,
    sent,
)
from tidings.contracts.callback_forms import RawCallback, UnverifiedCallback, VerifiedCallback
from tidings.kernel.http.errors import WrongContentTypeError
from tidings.kernel.refusals import UnavailableError
from tidings.router.adapters.ses.sns import fetch, is_certificate_of, is_confirmation_of


@pytest.mark.parametrize("version", ["1", "2"])
async def test_what_sns_signs_verifies(version: str) -> None:
    """With and without a subject, a notification and a question; the certificate is fetched once."""
    amazon = Amazon(content=pem())
    hook = form(amazon)
    bare = {name: value for name, value in NOTIFICATION.items() if name != "Subject"}

    for request in (
        sent(NOTIFICATION, SIGNED, version=version),
        sent(bare, SIGNED.replace("Subject\nMy First Message\n", ""), version=version),
        sent(CONFIRMATION, SIGNED_CONFIRMATION, version=version),
        sent(NOTIFICATION, SIGNED, version=version, at=AT + timedelta(minutes=64)),
    ):
        assert await hook.verify(request, KEYS) == VerifiedCallback()
    assert amazon.asked == [CERTIFICATE]


def _other(**changes: str) -> dict[str, str]:
    return {**NOTIFICATION, **changes}


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (sent(_other(Message="Hello!"), SIGNED), "mismatch"),
        (sent(_other(Subject="Another"), SIGNED), "mismatch"),
        (sent(_other(Type="UnsubscribeConfirmation"), SIGNED), "mismatch"),
        (sent(_other(TopicArn=TOPIC + "s"), SIGNED.replace("MyTopic", "MyTopics")), "mismatch"),
        (sent(NOTIFICATION, SIGNED, SignatureVersion="1"), "mismatch"),
        (sent(NOTIFICATION, SIGNED, SignatureVersion="3"), "mismatch"),
        (sent(NOTIFICATION, SIGNED, Signature="EXAMPLE!"), "mismatch"),
        (sent(NOTIFICATION, SIGNED, at=AT + timedelta(minutes=66)), "stale"),
        (sent(NOTIFICATION, SIGNED, at=AT - timedelta(minutes=6)), "stale"),
        (sent(_other(Timestamp="now"), SIGNED), "malformed"),
        (sent(NOTIFICATION, SIGNED, Type="Something"), "unsigned"),
        # Raw message delivery.
        (
            RawCallback(
                headers={"content-type": ["text/plain"]}, body=b'{"eventType": "Bounce"}', received_at=AT
            ),
            "unsigned",
        ),
    ],
)
async def test_others_are_refused(request_: RawCallback, code: str) -> None:
    """Each with the word for it."""
    found = await form().verify(request_, KEYS)

    assert isinstance(found, UnverifiedCallback)
    assert found.code == code


@pytest.mark.parametrize(
    "url",
    [
        "http://sns.us-west-2.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.us-west-2.amazonaws.com.evil.example/SimpleNotificationService-1.pem",
        "https://evil.example/SimpleNotificationService-1.pem",
        "https://sns.us-west-2.amazonaws.com@evil.example/SimpleNotificationService-1.pem",
        "https://sns.us-west-2.amazonaws.com:8443/SimpleNotificationService-1.pem",
        "https://sns.us-west-2.amazonaws.com/../SimpleNotificationService-1.pem",
        "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-1.pem?x=.pem",
        "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-1.pem\n",
        "https://bucket.s3.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.us-west-2.amazonaws.com/",
    ],
)
async def test_a_certificate_comes_from_amazon_or_not_at_all(url: str) -> None:
    """Nobody is asked for one that stands elsewhere, though it would fit."""
    amazon = Amazon(content=pem())

    found = await form(amazon).verify(sent(NOTIFICATION, SIGNED, SigningCertURL=url), KEYS)

    assert isinstance(found, UnverifiedCallback)
    assert found.code == "mismatch"
    assert amazon.asked == []


def test_every_partition_has_its_host() -> None:
    """China and the government of the USA."""
    china = "arn:aws-cn:sns:cn-north-1:123456789012:t"
    assert is_certificate_of("https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-a.pem", china)
    gov = "arn:aws-us-gov:sns:us-gov-west-1:123456789012:t"
    assert is_certificate_of("https://sns.us-gov-west-1.amazonaws.com/SimpleNotificationService-a.pem", gov)
    assert not is_confirmation_of(f"{HOST}/?Action=DeleteTopic&TopicArn={TOPIC}", TOPIC)


async def test_a_certificate_that_can_not_be_had_is_no_refusal() -> None:
    """SNS sends it again; meanwhile it is asked for once in half a minute."""
    amazon = Amazon(status=0)
    hook = form(amazon)

    for _ in range(3):
        with pytest.raises(UnavailableError):
            await hook.verify(sent(NOTIFICATION, SIGNED), KEYS)
    assert len(amazon.asked) == 1
    amazon.status, amazon.content = 200, pem()
    later = sent(NOTIFICATION, SIGNED, at=AT + timedelta(seconds=31))
    assert await hook.verify(later, KEYS) == VerifiedCallback()


@pytest.mark.parametrize(
    "amazon",
    [
        Amazon(status=404),
        Amazon(content=pem(until=2013)),
        Amazon(content=pem(rsa.generate_private_key(public_exponent=65537, key_size=2048))),
        Amazon(content=pem(rsa.generate_private_key(public_exponent=65537, key_size=1024))),
    ],
)
async def test_a_certificate_that_is_not_good_is_refused(amazon: Amazon) -> None:
    """There is none, it is over, it is another's, it is weak."""
    then = datetime(2014, 5, 2, tzinfo=UTC)
    text = SIGNED.replace("2012-05-02T00:54:06.655Z", "2014-05-02T00:00:00.000Z")
    request = sent(_other(Timestamp="2014-05-02T00:00:00.000Z"), text, at=then)

    found = await form(amazon).verify(request, KEYS)

    assert isinstance(found, UnverifiedCallback)


async def test_made_up_names_do_not_become_a_flood() -> None:
    """So many certificates are asked for in a minute, and no more."""
    amazon = Amazon(status=404)
    hook = form(amazon)

    for i in range(40):
        url = f"{HOST}/SimpleNotificationService-{i}.pem"
        try:
            await hook.verify(sent(NOTIFICATION, SIGNED, SigningCertURL=url), KEYS)
        except UnavailableError:
            assert i >= 30
    assert len(amazon.asked) == 30


async def test_another_kind_of_body_is_not_read() -> None:
    """SNS says text/plain, unless it is told to say JSON."""
    request = RawCallback(headers={"content-type": ["application/xml"]}, body=b"<x/>", received_at=AT)

    with pytest.raises(WrongContentTypeError):
        await form().verify(request, KEYS)


async def test_nothing_of_our_own_network_is_fetched() -> None:
    """Whatever a name may lead to."""
    async with played_http(answer("200 OK", pem())) as inside:
        found = await fetch(f"http://127.0.0.1:{inside.port}/SimpleNotificationService-1.pem")

    assert found == (0, b"")
    assert inside.heard == []
