"""Why a vendor did not take a message, in words: the same for a check, a test of a channel and an explanation."""

import re
from typing import Final, NamedTuple

#: SMTP 535 and its enhanced code: by far the commonest.
LOGIN_REFUSED: Final = "the server did not accept the user name and password"
NOT_ALLOWED_THERE: Final = "the server's address is not one that we may connect to"

_UNREACHABLE: Final = "the server can't be reached, or did not answer in time"
_UNTRUSTED: Final = (
    "no TLS connection that we trust could be made: the certificate is not trusted, or TLS is not offered"
)

#: Codes of our own, for what happened before the vendor could say anything.
_OURS: Final[dict[str, str]] = {
    "account_not_found": "the vendor account could not be looked up",
    "account_off": "the vendor account is switched off",
    "account_secret": "the secret of the vendor account can't be read",
    "account_settings": "the settings of the vendor account can't be read",
    "account_unusable": "the vendor account can't be used as it is set up",
    "address": NOT_ALLOWED_THERE,
    "auth": "the server offers no login that we know (PLAIN, LOGIN, XOAUTH2, OAUTHBEARER)",
    "bad_message": "the address, a variable or the metadata is not as this vendor wants it",
    "closed": "the connection to the vendor was being closed",
    "connection": _UNREACHABLE,
    "inbox_busy": "the recipient's inbox was being changed",
    "internal": "a fault of ours; the log of the worker has it",
    "late": "the vendor did not answer in time",
    "no_account": "there is no account with this vendor",
    "notify_away": "no process of notify answered",
    "sender_unauthorised": "the sender that goes out through the shared account is not granted to the tenant",
    "secret_store": "the store that keeps the account's secret did not answer",
    "tls": _UNTRUSTED,
    "token": "the vendor gave no access token for the account's credentials",
    "vendor_limit": "the limit of the vendor account is used up",
}

#: Words of the status map, as adapters bring them.
_MEANINGS: Final[dict[str, str]] = {
    "account_blocked": "the vendor has blocked the account",
    "account_suspended": "the vendor has suspended the account",
    "account_unready": "the account at the vendor is not ready for sending",
    "age_restricted": "the number does not take messages of this kind because of its owner's age",
    "bad_request": "the vendor did not understand the request",
    "blocked": "the message or its sender is blocked",
    "bot_blocked": "the recipient has blocked the bot",
    "busy": "the line was busy",
    "complaint": "the recipient has complained about messages",
    "content_refused": "the vendor refuses the content of the message",
    "content_too_large": "the message is too large",
    "content_too_long": "the text is too long",
    "country_not_enabled": "sending to this country is not enabled in the vendor account",
    "country_refused": "the vendor does not send to this country",
    "credentials": "the vendor did not accept the account's credentials",
    "daily_limit": "the vendor's limit for a day is used up",
    "device_mismatch": "the device token belongs to another app",
    "endpoint_not_allowed": "the address of the push service is not one that may be called",
    "expired": "the vendor kept it until it had expired",
    "hard_bounce": "the mailbox does not exist any more, or takes nothing",
    "insufficient_credit": "the credit of the vendor account is used up",
    "invalid_address": "there is no such address",
    "invalid_request": "the vendor did not understand the request",
    "invalid_sender": "the vendor does not know this sender",
    "landline": "the number is a landline and takes no text messages",
    "marketing_limited": "the vendor limits marketing messages to this recipient",
    "message_too_large": "the message is too large",
    "no_answer": "nobody answered the call",
    "no_route": "the vendor has no route to this number",
    "not_enabled": "this kind of message is not enabled in the vendor account",
    "not_on_channel": "the recipient is not on this channel",
    "not_on_test_list": "the number is not on the account's list of test numbers",
    "not_started": "the recipient has not started a chat with the bot",
    "not_subscribed": "the recipient is not subscribed to the sender",
    "opted_out": "the recipient has opted out of such messages",
    "outside_window": "the 24 hours since the recipient last wrote are over",
    "own_number": "the sender's own number can't be written to",
    "permanent_failure": "the vendor can't deliver it at all",
    "policy": "the server refuses it by its rules: relaying, spam filter, or a sender that is not allowed",
    "quality_limited": "the vendor limits the sender because of its quality rating",
    "queue_full": "the vendor's queue is full",
    "quota_exceeded": "the vendor's quota is used up",
    "rate_limited": "the vendor takes no more messages for now (rate limit)",
    "recipient_unsupported": "the recipient's app or device can't take it",
    "recipient_without_credit": "the recipient has no credit to receive it",
    "sender_mismatch": "the device token belongs to another sender",
    "sender_refused": "the vendor does not accept the sender",
    "soft_bounce": "the mailbox can't take it for now, for example because it is full",
    "template_mismatch": "the variables do not fit the vendor's template",
    "template_needed": "only an approved template may be sent now",
    "template_paused": "the vendor has paused the template",
    "template_unknown": "the vendor does not know the template",
    "throttled": "the vendor takes no more messages for now (rate limit)",
    "topic_mismatch": "the device token belongs to another app (topic)",
    "topic_refused": "the vendor does not accept the app's topic",
    "unavailable": "the vendor is not available for now",
    "unclassified": "the vendor does not say why",
    "undeliverable": "it can't be delivered",
    "unknown_error": "the vendor does not say why",
    "unreachable": "the recipient can't be reached for now",
    "unreachable_server": _UNREACHABLE,
    "unregistered_sender": "the sender is not registered where that is required",
    "unsubscribed": "the recipient has unsubscribed at the vendor",
    "unsuitable_device": "the recipient's device can't take it",
    "unsupported_message_type": "the recipient can't take messages of this type",
    "untrusted_connection": _UNTRUSTED,
    "unverified_recipient": "the vendor account may write to verified numbers only",
    "vendor_trouble": "the vendor has trouble of its own",
    "webhook_not_set": "the vendor wants the webhook to be set first",
}


class _Enhanced(NamedTuple):
    """What a code of RFC 3463 says, and the status map's word that says the same."""

    words: str
    meaning: str | None = None


_ENHANCED: Final[dict[str, _Enhanced]] = {
    "4.2.1": _Enhanced("the mailbox is closed for now"),
    "4.2.2": _Enhanced("the mailbox is full"),
    "4.3.1": _Enhanced("the server has no room for it now"),
    "4.3.2": _Enhanced("the server takes no messages now"),
    "4.4.1": _Enhanced("the recipient's server did not answer"),
    "4.4.2": _Enhanced("the connection broke"),
    "4.5.3": _Enhanced("the server takes no more recipients in one session"),
    "4.7.0": _Enhanced("the server holds it back by its rules for now"),
    "4.7.1": _Enhanced("the server holds it back by its rules for now (greylisting or rate limit)"),
    "4.7.8": _Enhanced(LOGIN_REFUSED),
    "5.1.1": _Enhanced("there is no such mailbox", "invalid_address"),
    "5.1.2": _Enhanced("there is no such mail domain", "invalid_address"),
    "5.1.3": _Enhanced("the address is not a valid one", "invalid_address"),
    "5.1.6": _Enhanced("the mailbox has moved", "invalid_address"),
    "5.1.8": _Enhanced("the server does not accept the sender's domain", "sender_refused"),
    "5.1.10": _Enhanced("the domain takes no mail", "invalid_address"),
    "5.2.1": _Enhanced("the mailbox is closed", "hard_bounce"),
    "5.2.2": _Enhanced("the mailbox is full", "soft_bounce"),
    "5.2.3": _Enhanced("the message is too large for the mailbox", "message_too_large"),
    "5.3.4": _Enhanced("the message is too large for the server", "message_too_large"),
    "5.4.1": _Enhanced("the server does not take mail for this address"),
    "5.4.4": _Enhanced("no way to the recipient's domain is known"),
    "5.4.6": _Enhanced("the mail runs in a circle"),
    "5.6.7": _Enhanced("the server takes no address with letters beyond ASCII"),
    "5.7.0": _Enhanced("the server wants a login or TLS first", "credentials"),
    "5.7.1": _Enhanced(_MEANINGS["policy"], "policy"),
    "5.7.3": _Enhanced(LOGIN_REFUSED, "credentials"),
    "5.7.8": _Enhanced(LOGIN_REFUSED, "credentials"),
    "5.7.9": _Enhanced("the server wants another kind of login", "credentials"),
    "5.7.14": _Enhanced("the server wants the account to be confirmed in a browser", "credentials"),
    "5.7.20": _Enhanced("the mail has no DKIM signature that passes", "policy"),
    "5.7.23": _Enhanced("SPF does not allow the sender", "policy"),
    "5.7.26": _Enhanced("the sender is not proven by SPF or DKIM", "policy"),
    "5.7.57": _Enhanced("the server wants a login first", "credentials"),
}
#: Codes of ours for what mail servers say about an account, with what to set.
_ACCOUNT: Final[dict[str, _Enhanced]] = {
    "account_blocked": _Enhanced("the vendor has blocked the account", "account_blocked"),
    "login_required": _Enhanced(
        "the server takes mail after a login only: set username and password, or auth oauth2", "credentials"
    ),
    "sender_not_allowed": _Enhanced(
        "the account may not send as this sender: allow it at the server (Send As), or use the account's own address",
        "sender_refused",
    ),
    "tls_required": _Enhanced(
        "the server takes mail over TLS only: set security to starttls or tls", "untrusted_connection"
    ),
}
#: The second part of such a code, where the whole is not known.
_SUBJECTS: Final[dict[str, str]] = {
    "1": "something is wrong with the address",
    "2": "something is wrong with the mailbox",
    "3": "the mail system has a problem",
    "4": "the mail could not be passed on over the network",
    "5": "the server did not understand the session",
    "6": "the server does not take the content",
    "7": "the server refuses it by its security rules",
}
_REPLIES: Final[dict[str, str]] = {
    "421": "the server is closing, or takes no connection now",
    "450": "the mailbox is not available for now",
    "451": "the server could not process it now",
    "452": "the server has no room for it now",
    "454": "the login could not be checked now",
    "530": "the server wants a login or TLS first",
    "534": "the server wants another kind of login",
    "550": "the server refuses the mailbox or the message",
    "552": "the message or the mailbox is too large",
    "553": "the server does not accept the address",
    "554": "the server refuses the message",
}
_STATUSES: Final[dict[str, str]] = {
    "400": "the vendor did not understand the request",
    "401": "the vendor does not accept the credentials",
    "402": "the credit of the vendor account is used up",
    "403": "the vendor does not allow it to this account",
    "404": "there is nothing at the vendor's address",
    "408": "the vendor did not answer in time",
    "413": "the message is too large",
    "422": "the vendor did not understand the request",
    "429": "the vendor takes no more messages for now (rate limit)",
}
_CODE: Final = re.compile(r"[45]\.([0-9]{1,3})\.[0-9]{1,3}")


def is_ours(code: str | None) -> bool:
    """Whether a code is one of ours, for what happened before the vendor could say anything."""
    return code in _OURS


def why(code: str | None, meaning: str | None = None, *, vendor: str | None = None) -> str | None:
    """What a code says, as a part of a sentence; None where that is not known.

    `meaning` is the status map's word for it: where a line gives a code another one, that one counts.
    """
    code = code or ""
    adapter = (vendor or "").partition("_")[0]
    if code == "535" and adapter == "smtp":
        code = "5.7.8"
    exact = _ENHANCED.get(code) or _ACCOUNT.get(code)
    if exact is not None and meaning in (None, exact.meaning):
        return exact.words
    said = _MEANINGS.get(meaning or "") or _OURS.get(code)
    if said is not None:
        return said
    if adapter == "smtp" and code in _REPLIES:
        return _REPLIES[code]
    if match := _CODE.fullmatch(code):
        return _SUBJECTS.get(match[1])
    if adapter == "http":
        return _STATUSES.get(code) or (
            "the vendor has trouble of its own" if re.fullmatch("5[0-9]{2}", code) else None
        )
    return _MEANINGS.get(code)
