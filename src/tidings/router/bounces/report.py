"""What a mail to a return path reports: a delivery status (RFC 3464), a complaint (RFC 5965), or nothing of the kind.

The token says which attempt it is about, and not the report: addresses in it are never looked at.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Final, Literal, TypeAlias

from tidings.router.bounces.parts import MailPart, fields_of, one_line, open_mail, parts_of

Kind: TypeAlias = Literal["status", "feedback", "auto_reply", "unreadable"]

#: `5.1.1`, also as qmail writes it: `#5.1.1`.
_ENHANCED: Final = re.compile(r"(?<![0-9.])([245])\.([0-9]{1,3})\.([0-9]{1,3})(?![0-9]|\.[0-9])")
_REPLY: Final = re.compile(r"(?<![0-9.])([45][0-9]{2})[ -]")
#: Where servers that write no delivery status begin to quote the message.
_QUOTED: Final = re.compile(
    r"^-{3,} ?(?:Below this line is a copy of the message|This is a copy of|The body of the message is|"
    r"Original message follows|Forwarded message)",
    re.IGNORECASE | re.MULTILINE,
)
_QMAIL: Final = re.compile(r"\bqmail-send program\b", re.IGNORECASE)
_MOST_TEXT: Final = 16 * 1024
#: What may hold the address that a mail was delivered to; the most certain first.
_DELIVERED_TO: Final = (
    "x-original-to",
    "envelope-to",
    "x-envelope-to",
    "delivered-to",
    "x-rcpt-to",
    "to",
    "cc",
)
_ADDRESS: Final = re.compile(r"[^\s<>,;:\"@]{1,64}@[^\s<>,;:\"@]{1,255}")
_MOST_ADDRESSES: Final = 20
_AUTOMATIC: Final = ("x-autoreply", "x-autorespond", "x-auto-response-suppress")


@dataclass(frozen=True, slots=True, kw_only=True)
class BounceReport:
    """What a mail says."""

    kind: Kind
    #: Of a status: `failed`, `delayed`, `delivered`, `relayed`, `expanded`. Of a feedback its type: `abuse`.
    word: str = ""
    #: The enhanced status code of RFC 3463.
    code: str | None = None
    #: As the server worded it; may hold an address.
    words: str | None = field(default=None, repr=False)
    at: datetime | None = None
    #: Addresses that may be return paths, the most certain first.
    addresses: tuple[str, ...] = field(default=(), repr=False)


def read_report(raw: bytes) -> BounceReport:
    """What a mail says; anything that can't be read is `unreadable`."""
    try:
        return _read(raw)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        # The standard library's reader of heads falls over some nonsense.
        return BounceReport(kind="unreadable")


def _read(raw: bytes) -> BounceReport:
    mail = open_mail(raw)
    parts = list(parts_of(mail))
    addresses = tuple(_addresses(mail, parts))
    at = _moment(mail.text("date"))
    for part in parts:
        if part.kind in {"message/delivery-status", "message/global-delivery-status"}:
            return _status(fields_of(part.content()), at, addresses)
        if part.kind == "message/feedback-report":
            return _feedback(fields_of(part.content()), at, addresses)
    if part_of_disposition(parts) or _is_automatic(mail):
        return BounceReport(kind="auto_reply", at=at, addresses=addresses)
    return _plain(mail, parts, at, addresses)


def part_of_disposition(parts: Sequence[MailPart]) -> bool:
    """A receipt of the reader's mail program (RFC 8098)."""
    return any(part.kind.endswith("disposition-notification") for part in parts)


def _status(groups: Sequence[Message], at: datetime | None, addresses: tuple[str, ...]) -> BounceReport:
    """Of several recipients, which an alias may stand for, one that failed counts where none was reached."""
    told = [group for group in groups if "action" in group or "status" in group]
    actions = [_action(group) for group in told]
    reached = {"delivered", "relayed", "expanded"}
    order: tuple[str, ...] = ("delivered", "relayed", "expanded", "failed", "delayed")
    if "failed" in actions and not reached & set(actions):
        order = ("failed", *order)
    word = next((one for one in order if one in actions), None)
    if word is None:
        return BounceReport(kind="unreadable", at=at, addresses=addresses)
    group = told[actions.index(word)]
    diagnostic = one_line(group.get("diagnostic-code", ""))
    _, found, words = diagnostic.partition(";")
    words = (words if found else diagnostic).strip()
    return BounceReport(
        kind="status",
        word=word,
        code=_code(one_line(group.get("status", "")), words),
        words=words or None,
        at=_moment(one_line(group.get("last-attempt-date", ""))) or at,
        addresses=addresses,
    )


def _action(group: Message) -> str:
    word = (one_line(group.get("action", "")).lower().split() or [""])[0].strip("();,")
    if word or "status" not in group:
        return word
    # Some servers leave it out.
    return {"5": "failed", "4": "delayed", "2": "delivered"}.get(one_line(group["status"])[:1], "")


def _code(status: str, diagnostic: str) -> str | None:
    """The status; where that says nothing more than its class, the code that the other server gave."""
    found = _ENHANCED.search(status)
    told = _ENHANCED.search(diagnostic)
    if found is not None and (int(found[2]) or int(found[3])):
        return found[0]
    if told is not None and (found is None or told[1] == found[1]):
        return told[0]
    if found is not None:
        return found[0]
    reply = _REPLY.match(diagnostic)
    return reply[1] if reply is not None else None


def _feedback(groups: Sequence[Message], at: datetime | None, addresses: tuple[str, ...]) -> BounceReport:
    head = groups[0] if groups else Message()
    word = (one_line(head.get("feedback-type", "")).lower().split() or [""])[0]
    if not word:
        return BounceReport(kind="unreadable", at=at, addresses=addresses)
    return BounceReport(
        kind="feedback",
        word=word,
        at=_moment(one_line(head.get("arrival-date", "") or head.get("received-date", ""))) or at,
        addresses=addresses,
    )


def _plain(
    mail: MailPart, parts: Sequence[MailPart], at: datetime | None, addresses: tuple[str, ...]
) -> BounceReport:
    """A bounce without a delivery status: Exim's and Gmail's own header, qmail's own form, and no guess beyond those."""
    text = next((part for part in parts if part.kind == "text/plain"), None)
    words = "" if text is None else text.content()[:_MOST_TEXT].decode("utf-8", "replace")
    said = _QUOTED.split(words, maxsplit=1)[0]
    if "x-failed-recipients" not in mail.head and not _QMAIL.search(said[:1000]):
        return BounceReport(kind="unreadable", at=at, addresses=addresses)
    codes = {found[0] for found in _ENHANCED.finditer(said) if found[1] != "2"}
    replies = {found[1] for found in _REPLY.finditer(said)}
    # Where a server names several, it does not say which of them is the reason.
    code = codes.pop() if len(codes) == 1 else replies.pop() if not codes and len(replies) == 1 else None
    return BounceReport(kind="status", word="failed", code=code, at=at, addresses=addresses)


def _is_automatic(mail: MailPart) -> bool:
    """The person is out of the office, or a machine says that it has our mail (RFC 3834)."""
    if "x-failed-recipients" in mail.head:
        return False
    submitted = mail.text("auto-submitted").lower()
    answered = submitted.startswith("auto-") and mail.kind != "multipart/report"
    return (
        answered
        or any(name in mail.head for name in _AUTOMATIC)
        or mail.text("precedence").lower() in {"auto_reply", "auto-reply"}
    )


def _addresses(mail: MailPart, parts: Sequence[MailPart]) -> Iterator[str]:
    """Where the mail went to, who sent the message that it reports, and where that came back to."""
    told = [one_line(value) for name in _DELIVERED_TO for value in mail.head.get_all(name, [])]
    for part in parts:
        if part.kind == "message/feedback-report":
            told += [one_line(group.get("original-mail-from", "")) for group in fields_of(part.content())]
        elif part.kind in {
            "message/rfc822",
            "text/rfc822-headers",
            "message/global",
            "message/global-headers",
        }:
            original = open_mail(part.content())
            told += [original.text("return-path"), original.text("x-envelope-from")]
    found = [address for value in told for address in _ADDRESS.findall(value)]
    yield from dict.fromkeys(found[:_MOST_ADDRESSES])


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        at = parsedate_to_datetime(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
