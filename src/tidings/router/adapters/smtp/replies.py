"""Their word → our word: what an SMTP reply means for a message."""

import re
from typing import Final, NamedTuple

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
from tidings.router.adapters.smtp.wire import SmtpReply


# Replies of mail servers that are about our account or our session, whatever message they came to.
#
# Such a message is tried again later: what has to be mended is a setting, and the code says which.
class AccountTrouble(NamedTuple):
    """What is wrong with the account."""

    code: str
    reason: str
    #: A person has to change something; False: it may pass.
    refused: bool = True


_TLS: Final = AccountTrouble(
    "tls_required", "the server takes mail over TLS only: set security to starttls or tls"
)
_LOGIN: Final = AccountTrouble(
    "login_required", "the server takes mail after a login only: set username and password, or auth oauth2"
)
_SENDER: Final = AccountTrouble(
    "sender_not_allowed",
    "the account may not send as this sender: allow it at the server (Send As), or use the account's own address",
)
_BLOCKED: Final = AccountTrouble(
    "account_blocked", "the server has blocked the account; its provider says why"
)

#: By reply code. RFC 4954, 6; RFC 3207, 4.
_BY_CODE: Final = {530: _LOGIN, 534: _LOGIN, 535: _LOGIN, 538: _TLS}
#: By enhanced code, where the reply code is one that says other things too.
_BY_DETAIL: Final = {
    # "Encryption needed" (RFC 5248), and "required for requested authentication mechanism" (RFC 4954).
    "5.7.10": _TLS,
    "5.7.11": _TLS,
    # Exchange: "Client not authenticated to send mail".
    "5.7.57": _LOGIN,
    # Exchange: "Client does not have permissions to send as this sender", "SendAsDenied".
    "5.7.60": _SENDER,
    "5.2.252": _SENDER,
    # Exchange Online: the tenant has sent too much, from an address without a good name, as a domain that it has not proven.
    "5.7.705": _BLOCKED,
    "5.7.708": _BLOCKED,
    "5.7.750": _BLOCKED,
}
#: What is said to a login besides "no".
_AT_LOGIN: Final = {
    # 454 4.7.0 "Temporary authentication failure".
    454: AccountTrouble("454", "the server could not check the login now", refused=False),
    # 534 5.7.9: Google wants an application's own password, or OAuth 2.
    534: AccountTrouble(
        "5.7.9", "the server wants another kind of login: auth oauth2, or a password made for applications"
    ),
    538: _TLS,
}


def account_trouble(reply: SmtpReply) -> AccountTrouble | None:
    """What a reply to a message says about our account; None where it is about the message."""
    if reply.code // 100 != 5:
        return None
    found = _BY_DETAIL.get(reply.detailed_code) or _BY_CODE.get(reply.code)
    return _TLS if found is _LOGIN and "STARTTLS" in reply.text.upper() else found


def login_trouble(reply: SmtpReply) -> AccountTrouble | None:
    """What a reply to a login says beside that it is refused."""
    return _AT_LOGIN.get(reply.code) or _BY_DETAIL.get(reply.detailed_code)


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


def outcome_of(reply: SmtpReply, message: OutboundMessage) -> Outcome:
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


def queue_id(reply: SmtpReply) -> str | None:
    """The server's own name for the message, if it told."""
    words = reply.words
    return next((found[1] for pattern in _QUEUE_IDS if (found := pattern.search(words))), None)
