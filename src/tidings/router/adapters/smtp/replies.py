"""Their word → our word: what an SMTP reply means for a message."""

import re

from tidings.contracts.messages import (
    Accepted,
    OutboundMessage,
    Outcome,
    RawAnswer,
    Refused,
    TryLater,
    Unlearned,
)
from tidings.router.adapters.redaction import clean
from tidings.router.adapters.smtp.account_replies import account_trouble
from tidings.router.adapters.smtp.wire import Reply

#: How servers name what they took, most telling first. Each was seen in the wild:
_QUEUE_IDS = (
    re.compile(
        r"queued as <?([A-Za-z0-9._-]{4,100})", re.IGNORECASE
    ),  # Postfix, Haraka: "Ok: queued as 4XyZ"
    re.compile(r"\bid=<?([A-Za-z0-9._@-]{4,100})", re.IGNORECASE),  # Exim: "OK id=1abcDE-000001-2f"
    re.compile(r"^([A-Za-z0-9._-]{4,100}) Message accepted", re.IGNORECASE),  # Sendmail, OpenSMTPD
    re.compile(r"InternalId=([0-9]+)"),  # Exchange: "<…> [InternalId=123] Queued mail for delivery"
    re.compile(r"^OK\s+(\d+ [a-z0-9.-]+) - gsmtp", re.IGNORECASE),  # Google
    re.compile(r"^Ok:? ([0-9a-f][0-9a-f-]{15,99})\Z", re.IGNORECASE),  # Amazon: "Ok 0102018c…-000000"
)


def outcome_of(reply: Reply, message: OutboundMessage) -> Outcome:
    """What a reply means; nothing of the message comes back in its reason."""
    kind = reply.code // 100
    answer = RawAnswer(content=f"{reply.code} {reply.words}".encode())
    if kind == 2:
        return Accepted(provider_message_id=queue_id(reply), answer=answer)
    reason = clean(reply.words, message) or "the server gave no reason"
    if kind == 4:
        return TryLater(reason=reason, code=reply.detailed_code, answer=answer)
    if kind == 5 and (trouble := account_trouble(reply)) is not None:
        return TryLater(reason=trouble.reason, code=trouble.code, answer=answer)
    if kind == 5:
        return Refused(reason=reason, code=reply.detailed_code, answer=answer)
    return Unlearned(reason="the server's answer to the message was none", answer=answer)


def queue_id(reply: Reply) -> str | None:
    """The server's own name for the message, if it told."""
    words = reply.words
    return next((found[1] for pattern in _QUEUE_IDS if (found := pattern.search(words))), None)
