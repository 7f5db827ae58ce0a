"""What mails to a return path say: reports by the standards, bounces of other forms, and what is no bounce at all."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.bounce_mails import auto_reply, delivery_status, feedback
from tidings.contracts.callback_forms import Canonical, Effect
from tidings.router.bounces.bounce_codes import event_of
from tidings.router.bounces.report import read_report

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
PATH = "bounces+token@mail.acme.test"
QMAIL = """Hi. This is the qmail-send program at mx.example.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<laila@example.test>:
192.0.2.7 does not like recipient.
Remote host said: {said}
Giving up on 192.0.2.7.

--- Below this line is a copy of the message.

Return-Path: <bounces@acme.test>
550 5.7.1 is what the message was about
"""


@pytest.mark.parametrize(
    ("action", "status", "diagnostic", "wanted"),
    [
        ("failed", "5.1.1", None, ("bounced", "5.1.1", "hard_bounce")),
        ("Failed (no such user)", "5.1.1", None, ("bounced", "5.1.1", "hard_bounce")),
        ("failed", "5.1.8", None, ("rejected_by_provider", "5.1.8", None)),
        ("failed", "5.2.1", None, ("bounced", "5.2.1", "hard_bounce")),
        ("failed", "5.2.2", None, ("bounced", "5.2.2", "soft_bounce")),
        ("failed", "5.3.0", None, ("failed_perm", "5.3.0", None)),
        ("failed", "5.6.1", None, ("failed_perm", "5.6.1", None)),
        ("failed", "5.7.1", None, ("rejected_by_provider", "5.7.1", None)),
        ("failed", "4.4.7", None, ("bounced", "4.4.7", "soft_bounce")),
        ("failed", "5.0.0", "smtp; 550 5.1.1 no such user", ("bounced", "5.1.1", "hard_bounce")),
        ("failed", "5.0.0", "smtp; 550 go away", ("bounced", "5.0.0", "soft_bounce")),
        ("failed", "5.0.0", "smtp; 451 4.7.1 later", ("bounced", "5.0.0", "soft_bounce")),
        ("failed", "5.4.4", "X-Postfix; Host 10.5.1.1 not found", ("bounced", "5.4.4", "soft_bounce")),
        ("failed", "", "smtp; 550 go away", ("bounced", "550", "soft_bounce")),
        ("failed", "nonsense", None, ("bounced", None, "soft_bounce")),
        ("", "5.1.1", None, ("bounced", "5.1.1", "hard_bounce")),
        ("", "4.4.1", None, ("sent", "4.4.1", None)),
        ("delayed", "4.4.1", None, ("sent", "4.4.1", None)),
        ("delivered", "2.0.0", None, ("delivered", "2.0.0", None)),
        ("relayed", "2.0.0", None, ("sent", "2.0.0", None)),
        ("expanded", "2.0.0", None, ("sent", "2.0.0", None)),
        ("exploded", "5.1.1", None, ("unknown", None, None)),
    ],
)
def test_a_delivery_status(
    action: str, status: str, diagnostic: str | None, wanted: tuple[Canonical, str | None, Effect | None]
) -> None:
    assert _meaning(delivery_status(PATH, action=action, status=status, diagnostic=diagnostic)) == wanted


def test_the_reason_holds_no_address() -> None:
    event = event_of(read_report(delivery_status(PATH)), "attempt_1", received_at=NOW)
    assert event is not None
    assert event.details is not None
    assert "no such user" in (event.details.reason or "")
    assert "laila" not in (event.details.reason or "")
    assert event.occurred_at == datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def test_the_same_bounce_in_other_words_is_the_same_event() -> None:
    one, two = (
        event_of(read_report(delivery_status(PATH, diagnostic=words)), "attempt_1", received_at=NOW)
        for words in ("smtp; 550 5.1.1 first", "smtp; 550 5.1.1 second")
    )
    assert one is not None
    assert two is not None
    assert (one.vendor_message_id, one.word, one.discriminator) == (
        two.vendor_message_id, two.word, two.discriminator,
    )  # fmt: skip


def test_of_several_recipients_one_that_failed_counts_where_none_was_reached() -> None:
    """One mail goes to one address; an alias may stand for several."""
    one = delivery_status(PATH, action="delayed", status="4.4.1", diagnostic=None)
    failed = b"Status: 4.4.1\r\n\r\nFinal-Recipient: rfc822; x@y\r\nAction: failed\r\nStatus: 5.1.1\r\n"
    assert _meaning(one.replace(b"Status: 4.4.1\r\n", failed)) == ("bounced", "5.1.1", "hard_bounce")
    reached = failed + b"\r\nFinal-Recipient: rfc822; z@y\r\nAction: relayed\r\nStatus: 2.0.0\r\n"
    assert _meaning(one.replace(b"Status: 4.4.1\r\n", reached)) == ("sent", "2.0.0", None)


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("abuse", ("complaint", None, "complaint")),
        ("ABUSE", ("complaint", None, "complaint")),
        ("fraud", ("complaint", None, "complaint")),
        ("opt-out", ("complaint", None, "complaint")),
        ("not-spam", None),
        ("auth-failure", None),
    ],
)
def test_a_feedback_report(kind: str, wanted: tuple[Canonical, str | None, Effect | None] | None) -> None:
    assert _meaning(feedback(PATH, kind=kind)) == wanted


def test_a_feedback_report_names_its_message_inside() -> None:
    report = read_report(feedback("fbl@acme.test", original_mail_from=PATH))
    assert report.addresses == ("fbl@acme.test", PATH)


@pytest.mark.parametrize(
    "mail",
    [
        auto_reply(PATH),
        auto_reply(PATH).replace(b"Auto-Submitted: auto-replied", b"Precedence: auto_reply"),
        auto_reply(PATH).replace(b"Auto-Submitted: auto-replied", b"X-Autoreply: yes"),
        b"To: x@y\r\nContent-Type: multipart/report; report-type=disposition-notification; boundary=b\r\n\r\n"
        b"--b\r\nContent-Type: message/disposition-notification\r\n\r\nDisposition: displayed\r\n--b--\r\n",
    ],
)
def test_automatic_answers_are_no_bounces(mail: bytes) -> None:
    assert read_report(mail).kind == "auto_reply"
    assert _meaning(mail) is None


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("550 sorry, no mailbox here by that name (#5.1.1)", ("bounced", "5.1.1", "hard_bounce")),
        ("550 sorry", ("bounced", "550", "soft_bounce")),
        ("sorry", ("bounced", None, "soft_bounce")),
        ("550 5.1.1 or else 552 5.2.2", ("bounced", None, "soft_bounce")),
    ],
)
def test_qmail_words_it_in_its_own_way(
    said: str, wanted: tuple[Canonical, str | None, Effect | None]
) -> None:
    mail = f"From: MAILER-DAEMON@mx.example\nTo: {PATH}\nSubject: failure notice\n\n" + QMAIL.format(
        said=said
    )
    assert _meaning(mail.encode()) == wanted
    assert _meaning(mail.replace("\n", "\r\n").encode()) == wanted


def test_a_mail_with_a_header_of_failed_recipients_is_a_bounce() -> None:
    mail = b"X-Failed-Recipients: laila@example.test\r\nAuto-Submitted: auto-replied\r\n\r\n550 5.1.1 no such user\r\n"
    assert _meaning(mail) == ("bounced", "5.1.1", "hard_bounce")


@pytest.mark.parametrize(
    "mail",
    [
        b"",
        b"\r\n",
        b"\x00\xff" * 1000,
        b"Subject: Undeliverable: Your order\r\n\r\nIt could not be delivered: 550 5.1.1\r\n",
        b"Content-Type: multipart/report\r\n\r\nno boundary",
        b"Content-Type: multipart/report; boundary=b\r\n\r\nno part",
        b"Content-Type: message/delivery-status\r\n\r\n",
        b"Content-Type: message/delivery-status\r\n\r\nAction:\r\n",
        b"Content-Type: message/feedback-report\r\n\r\nVersion: 1\r\n",
        b"Content-Type: message/delivery-status\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!",
        b"Content-Type: text/plain; charset=no-such-charset\r\n\r\n\xff\xfe",
        b"Content-Type: multipart/mixed; boundary*=utf-9''%ff\r\n\r\n--x\r\n",
        b"X: " + b"y" * 500_000,
        b"Content-Type: multipart/mixed" + b";" * 60_000 + b"\r\n\r\n",
        b"".join(
            b'Content-Type: multipart/mixed; boundary="%d"\r\n\r\n--%d\r\n' % (n, n) for n in range(5000)
        ),
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\n" * 50_000,
        b"Content-Type: message/delivery-status\r\n\r\n" + b"Action: failed\r\n\r\n"[:9] * 50_000,
    ],
)
def test_what_can_not_be_read_is_known_as_such(mail: bytes) -> None:
    assert read_report(mail).kind == "unreadable"
    assert _meaning(mail) == ("unknown", None, None)


def test_a_report_is_found_inside_other_parts_and_encodings() -> None:
    inner = delivery_status(PATH)
    head = b'To: x@y\r\nContent-Type: multipart/mixed; boundary="outer"\r\n\r\n--outer\r\n'
    assert _meaning(head + inner + b"\r\n--outer--\r\n") == ("bounced", "5.1.1", "hard_bounce")
    encoded = b"Content-Type: message/delivery-status\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    encoded += b"QWN0aW9uOiBm\r\nYWlsZWQKU3Rh\r\ndHVzOiA1LjEuMQo=\r\n"
    assert _meaning(encoded) == ("bounced", "5.1.1", "hard_bounce")


def _meaning(mail: bytes) -> tuple[Canonical, str | None, Effect | None] | None:
    event = event_of(read_report(mail), "attempt_1", received_at=NOW)
    if event is None:
        return None
    details = event.details
    return (
        event.status,
        None if details is None else details.code,
        None if details is None else details.effect,
    )


SAMPLES = Path(__file__).parent / "samples"


@pytest.mark.parametrize("server", ["postfix", "exim"])
def test_what_real_servers_sent(server: str) -> None:
    """Postfix 3.7 and Exim 4.96, each told by the next server that there is no such person; the quoted mail is shortened."""
    mail = (SAMPLES / f"{server}.eml").read_bytes()
    for raw in (mail, mail.replace(b"\r\n", b"\n")):
        report = read_report(raw)
        assert (report.kind, report.word, report.code) == ("status", "failed", "5.1.1")
        assert report.words == "550 5.1.1 not a return path of ours"
        assert report.at is not None
        [address] = report.addresses
        assert address.startswith("bounces+")
        # Cut off anywhere, it says no more than it said before.
        for end in range(0, len(raw), 97):
            assert read_report(raw[:end]).code in {None, "5.1.1", "5.0.0", "550"}
