"""Replies of mail servers that are about our account or our session, whatever message they came to.

Such a message is tried again later: what has to be mended is a setting, and the code says which.
"""

from typing import Final, NamedTuple

from tidings.router.adapters.smtp.wire import Reply


class Trouble(NamedTuple):
    """What is wrong with the account."""

    code: str
    reason: str
    #: Somebody has to change something; False: it may pass.
    refused: bool = True


_TLS: Final = Trouble("tls_required", "the server takes mail over TLS only: set security to starttls or tls")
_LOGIN: Final = Trouble(
    "login_required", "the server takes mail after a login only: set username and password, or auth oauth2"
)
_SENDER: Final = Trouble(
    "sender_not_allowed",
    "the account may not send as this sender: allow it at the server (Send As), or use the account's own address",
)
_BLOCKED: Final = Trouble("account_blocked", "the server has blocked the account; its provider says why")

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
    454: Trouble("454", "the server could not check the login now", refused=False),
    # 534 5.7.9: Google wants an application's own password, or OAuth 2.
    534: Trouble(
        "5.7.9", "the server wants another kind of login: auth oauth2, or a password made for applications"
    ),
    538: _TLS,
}


def account_trouble(reply: Reply) -> Trouble | None:
    """What a reply to a message says about our account; None where it is about the message."""
    if reply.code // 100 != 5:
        return None
    found = _BY_DETAIL.get(reply.detailed_code) or _BY_CODE.get(reply.code)
    return _TLS if found is _LOGIN and "STARTTLS" in reply.text.upper() else found


def login_trouble(reply: Reply) -> Trouble | None:
    """What a reply to a login says beside that it is refused."""
    return _AT_LOGIN.get(reply.code) or _BY_DETAIL.get(reply.detailed_code)
