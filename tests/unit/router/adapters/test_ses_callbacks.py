"""What Amazon SES tells by way of SNS, and which topics are confirmed."""

import json

import pytest

from tests.unit.router.adapters.notifications import (
    AT,
    CONFIRMATION,
    HOST,
    KEYS,
    NOTIFICATION,
    SIGNED,
    SIGNED_CONFIRMATION,
    TOPIC,
    Amazon,
    form,
    sent,
)
from tidings.contracts.callback_forms import HookReply, RawCallback, UnverifiedCallback
from tidings.kernel.refusals import InvalidError, UnavailableError


def _told(said: object) -> RawCallback:
    message = said if isinstance(said, str) else json.dumps(said)
    return sent({**NOTIFICATION, "Message": message}, "")


MAIL = {"messageId": "m-1", "timestamp": "2012-05-02T00:54:00.000Z"}


@pytest.mark.parametrize(
    ("said", "status", "code", "effect"),
    [
        ({"bounceType": "Permanent", "bounceSubType": "NoEmail"}, "bounced", "Permanent/NoEmail", "hard_bounce"),
        ({"bounceType": "Permanent", "bounceSubType": "New"}, "bounced", "Permanent/New", "hard_bounce"),
        ({"bounceType": "Transient", "bounceSubType": "MailboxFull"}, "bounced", "Transient/MailboxFull", "soft_bounce"),
        ({"bounceType": "Transient", "bounceSubType": "MessageTooLarge"}, "failed_perm", "Transient/MessageTooLarge", None),
        (
            {"bounceType": "Permanent", "bounceSubType": "OnAccountSuppressionList"},
            "rejected_by_provider",
            "Permanent/OnAccountSuppressionList",
            None,
        ),
        (
            {"bounceType": "Undetermined", "bounceSubType": "Undetermined"},
            "bounced",
            "Undetermined/Undetermined",
            None,
        ),
    ],
)  # fmt: skip
def test_bounces(said: dict[str, str], status: str, code: str, effect: str | None) -> None:
    """By type and subtype, also as an identity itself tells them."""
    request = _told({"notificationType": "Bounce", "mail": MAIL, "bounce": {**said, "feedbackId": "f-1"}})

    (read,) = form().read(request, KEYS).events

    assert (read.vendor_message_id, read.word, read.status) == ("m-1", "bounce", status)
    assert read.discriminator == "f-1"
    assert read.details is not None
    assert (read.details.code, read.details.effect) == (code, effect)


def test_a_complaint_that_is_none() -> None:
    """Somebody took the mail out of the spam."""
    said = {"eventType": "Complaint", "mail": MAIL, "complaint": {"complaintFeedbackType": "not-spam"}}

    (read,) = form().read(_told(said), KEYS).events

    assert read.status == "unknown"
    assert read.details is not None
    assert read.details.effect is None


@pytest.mark.parametrize(
    "said",
    [
        "Successfully validated SNS topic for Amazon SES event publishing.",
        {"AlarmName": "x"},
        "[1]",
        {"mail": MAIL},
    ],
)
def test_what_is_about_no_mail_is_left_aside(said: object) -> None:
    """A greeting, and whatever else comes into the topic."""
    assert form().read(_told(said), KEYS).events == ()


def test_an_event_that_can_not_be_read_is_seen() -> None:
    """It is refused by name, so that somebody looks at it."""
    with pytest.raises(InvalidError, match="Message"):
        form().read(_told({"eventType": "Bounce", "mail": {"messageId": 5}}), KEYS)


# --- the question


async def test_a_topic_of_the_account_is_confirmed() -> None:
    """By a GET of the address that SNS names, at its own host."""
    amazon = Amazon(content=b"<ConfirmSubscriptionResponse/>")

    found = await form(amazon).challenge(sent(CONFIRMATION, SIGNED_CONFIRMATION), KEYS)

    assert isinstance(found, HookReply)
    assert found.status == 200
    assert amazon.asked == [CONFIRMATION["SubscribeURL"]]


@pytest.mark.parametrize(
    "changes",
    [
        {"TopicArn": TOPIC + "s"},
        {"SubscribeURL": "https://evil.example/?Action=ConfirmSubscription&Token=1"},
        {"SubscribeURL": "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=1"},
        {"SubscribeURL": f"{HOST}/?Action=DeleteTopic&Token=1"},
        {"SubscribeURL": "http://169.254.169.254/?Action=ConfirmSubscription&Token=1"},
    ],
)
async def test_nothing_else_is_visited(changes: dict[str, str]) -> None:
    """Another topic, another host, another deed."""
    amazon = Amazon()

    found = await form(amazon).challenge(sent({**CONFIRMATION, **changes}, ""), KEYS)

    assert isinstance(found, UnverifiedCallback)
    assert amazon.asked == []


async def test_what_asks_nothing_gets_no_answer() -> None:
    """Notifications, farewells and a browser."""
    hook = form(Amazon())
    farewell = {**CONFIRMATION, "Type": "UnsubscribeConfirmation"}

    assert await hook.challenge(sent(NOTIFICATION, SIGNED), KEYS) is None
    assert await hook.challenge(sent(farewell, ""), KEYS) is None
    assert hook.read(sent(farewell, ""), KEYS).events == ()
    assert await hook.challenge(RawCallback(method="GET", headers={}, received_at=AT), KEYS) is None


async def test_a_confirmation_that_fails_is_asked_for_again() -> None:
    """Amazon could not be reached: SNS has to ask once more."""
    with pytest.raises(UnavailableError):
        await form(Amazon(status=0)).challenge(sent(CONFIRMATION, SIGNED_CONFIRMATION), KEYS)
