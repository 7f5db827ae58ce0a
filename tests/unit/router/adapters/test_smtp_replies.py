"""What mail servers say, as they were heard to say it, and what it means."""

import pytest

from tests.support.vendors import MESSAGE
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.router.adapters.smtp.replies import outcome_of
from tidings.router.adapters.smtp.wire import SmtpReply


def reply(*lines: str) -> SmtpReply:
    texts = tuple(line[4:] for line in lines)
    return SmtpReply(int(lines[0][:3]), " ".join(texts), texts)


@pytest.mark.parametrize(
    ("line", "queue_id"),
    [
        ("250 2.0.0 Ok: queued as 4Xn6dP5cQzz9rxL", "4Xn6dP5cQzz9rxL"),
        ("250 OK id=1tBpXq-00000001abC-2x4T", "1tBpXq-00000001abC-2x4T"),
        ("250 2.0.0 4AF9KkZx012345 Message accepted for delivery", "4AF9KkZx012345"),
        ("250 2.0.0 5e3c1f0a Message accepted for delivery", "5e3c1f0a"),
        ("250 Ok 0102018c7e2f4a5b-1a2b3c4d-000000", "0102018c7e2f4a5b-1a2b3c4d-000000"),
        ("250 2.6.0 <x@y> [InternalId=123456789, Hostname=EX.x] Queued mail for delivery", "123456789"),
        ("250 2.0.0 OK  1763208001 a640c23a62f3a-b7.42 - gsmtp", "1763208001 a640c23a62f3a-b7.42"),
        ("250 2.0.0 Ok", None),
        ("250 ", None),
    ],
)
def test_queue_ids(line: str, queue_id: str | None) -> None:
    """Where a server names what it took, the name is kept."""
    assert outcome_of(reply(line), MESSAGE) == Accepted(provider_message_id=queue_id)


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        (["550 5.1.1 <laila.unmistakable@example.test>: User unknown"], Refused(reason="<…>: User unknown", code="5.1.1")),
        (["550-5.7.26 Not", "550-5.7.26 authenticated", "550 5.7.26 by us"], Refused(reason="Not authenticated by us", code="5.7.26")),
        (["554 no"], Refused(reason="no", code="554")),
        (["452 4.2.2 mailbox of laila.unmistakable is full"], TryLater(reason="mailbox of … is full", code="4.2.2")),
        (["450 "], TryLater(reason="the server gave no reason", code="450")),
        (["354 go on"], Unlearned(reason="the server's answer to the message was none")),
    ],
)  # fmt: skip
def test_refusals(lines: list[str], outcome: Outcome) -> None:
    """4xx is later, 5xx is no; codes and words are kept, addresses are not."""
    assert outcome_of(reply(*lines), MESSAGE) == outcome
