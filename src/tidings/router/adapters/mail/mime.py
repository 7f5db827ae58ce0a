"""Builds a mail by hand, because the standard library's way takes longer than everything else together.

mixed(alternative(text, related(html, inline…)), attachments…), with only those levels that are needed. Bodies are
base64 of UTF-8, so that every line is short ASCII and no text can look like a boundary or a lone dot. The same
message built twice has the same Message-ID and the same boundaries.
"""

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import lru_cache

from tidings.contracts.messages import Address, Attachment, OutboundMessage
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.mail.headers import (
    MailAddress,
    check_name,
    filename_parameter,
    is_structured,
    mailbox,
    refuse_breaks,
    structured,
    unstructured,
)

#: Fields that this file writes itself, or that only servers may write.
_OURS = frozenset(
    [
        "from",
        "to",
        "cc",
        "bcc",
        "sender",
        "reply-to",
        "subject",
        "date",
        "message-id",
        "mime-version",
        "auto-submitted",
        "return-path",
        "received",
        "dkim-signature",
        "list-unsubscribe",
        "list-unsubscribe-post",
    ]
)
_MESSAGE_ID = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
_CID = re.compile(r"[A-Za-z0-9._+-]{1,120}(?:@[A-Za-z0-9.-]{1,120})?")
_LINK = re.compile(r"https?://[\x21\x23-\x3b\x3d\x3f-\x7e]{1,900}")
#: Pictures of a template go out again and again; larger ones are encoded each time.
_MOST_REMEMBERED = 128 * 1024


#: Characters, as RFC 5322 allows them.
_LONGEST_LINE = 998


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail as it goes over the wire, and its envelope."""

    #: Whole fields, each with its CRLF.
    fields: tuple[str, ...] = field(repr=False)
    body: bytes = field(repr=False)
    sender: str = field(repr=False)
    to: str = field(repr=False)
    #: Its headers or its envelope hold an address that is not ASCII.
    needs_utf8: bool
    #: Of the sender, in ASCII: its key signs.
    domain: str

    def data(self, signatures: tuple[str, ...] = ()) -> bytes:
        """Headers and body; signatures go on top."""
        return "".join((*signatures, *self.fields, "\r\n")).encode() + self.body


def build(message: OutboundMessage, *, at: datetime) -> Mail:
    """The mail; a `BadValueError` that names the field where something can't be said in one."""
    sender = _sender(message.sender, "sender")
    to = MailAddress(message.to, "to")
    if not _MESSAGE_ID.fullmatch(message.message_id):
        raise BadValueError("message_id", "must be letters, digits, dots, hyphens and underscores")
    fields = [
        _sender_field("From", message.sender),
        mailbox("To", to, message.to_name, "to_name"),
        unstructured("Subject", message.subject or "", "subject"),
        _date(int(at.timestamp())),
        f"Message-ID: <{message.message_id}@{sender.domain}>\r\n",
        "MIME-Version: 1.0\r\nAuto-Submitted: auto-generated\r\n",
    ]
    needs_utf8 = to.needs_utf8 or sender.needs_utf8
    if message.reply_to is not None:
        needs_utf8 = needs_utf8 or _sender(message.reply_to, "reply_to").needs_utf8
        fields.append(_sender_field("Reply-To", message.reply_to))
    fields += _unsubscribe(message)
    fields += _further(message.headers)
    head, body = _content(message)
    fields.append(head)
    return Mail(
        fields=tuple(fields),
        body=body,
        sender=sender.spec,
        to=to.spec,
        needs_utf8=needs_utf8,
        domain=sender.domain,
    )


@lru_cache(maxsize=1024)
def _sender(address: Address, where: str) -> MailAddress:
    return MailAddress(address.value, where)


@lru_cache(maxsize=1024)
def _sender_field(header: str, address: Address) -> str:
    where = "sender" if header == "From" else "reply_to"
    return mailbox(header, _sender(address, where), address.name, f"{where}.name")


@lru_cache(maxsize=4)
def _date(seconds: int) -> str:
    return f"Date: {format_datetime(datetime.fromtimestamp(seconds, UTC))}\r\n"


def _unsubscribe(message: OutboundMessage) -> Iterator[str]:
    url, address = message.list_unsubscribe, message.list_unsubscribe_mailto
    if url is None and address is None:
        return
    ways = []
    if url is not None:
        if not _LINK.fullmatch(url):
            raise BadValueError(
                "list_unsubscribe", "must be an http or https URL in ASCII, of at most 900 characters"
            )
        ways.append(f"<{url}>")
    if address is not None:
        spec = MailAddress(address, "list_unsubscribe_mailto")
        if spec.needs_utf8:
            raise BadValueError("list_unsubscribe_mailto", "must be an address in ASCII")
        ways.append(f"<mailto:{spec.spec}>")
    yield f"List-Unsubscribe: {(',' + chr(13) + chr(10) + ' ').join(ways)}\r\n"
    # RFC 8058: one click, and only over https.
    if url is not None and url.startswith("https://"):
        yield "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"


def _further(headers: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for i, (name, value) in enumerate(headers):
        where = f"headers[{i}]"
        check_name(name, where)
        if name.lower() in _OURS or name.lower().startswith("content-"):
            raise BadValueError(where, f"must not be {name}: Tidings writes that one itself")
        yield (structured if is_structured(name) else unstructured)(name, value, where)


def _content(message: OutboundMessage) -> tuple[str, bytes]:
    """The last header fields, and the body."""
    mark = f"=_{message.message_id}"
    inline = [(i, a) for i, a in enumerate(message.attachments) if a.inline_cid is not None]
    attached = [(i, a) for i, a in enumerate(message.attachments) if a.inline_cid is None]
    parts: list[tuple[str, bytes]] = []
    alone = (message.text is None or message.html is None) and not message.attachments
    if message.text is not None:
        parts.append(_text("plain", message.text, "text", alone=alone))
    if message.html is not None:
        html = _text("html", message.html, "html", alone=alone)
        if inline:
            html = _multipart("related", f"{mark}_rel", [html, *(_inline(a, i) for i, a in inline)])
        parts.append(html)
    elif inline:
        raise BadValueError(f"attachments[{inline[0][0]}].inline_cid", "needs an html that shows it")
    if not parts:
        raise BadValueError("text", "must be given, or html")
    whole = parts[0] if len(parts) == 1 else _multipart("alternative", f"{mark}_alt", parts)
    if attached:
        whole = _multipart("mixed", f"{mark}_mix", [whole, *(_attached(a, i) for i, a in attached)])
    return whole


def _text(kind: str, text: str, where: str, *, alone: bool) -> tuple[str, bytes]:
    if "\0" in text:
        raise BadValueError(where, "must not contain zero characters")
    # Text has CRLF at its line ends before it is encoded (RFC 2045, 6.8).
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        data = text.replace("\n", "\r\n").encode()
    except UnicodeEncodeError:
        raise BadValueError(where, "must be valid Unicode text") from None
    plain = text.isascii() and max(map(len, text.split("\n"))) <= _LONGEST_LINE
    if plain and (not alone or data.endswith(b"\r\n")):
        # As it is: smaller, and people who look at the source can read it. Among others, the last line end is the
        # boundary's; alone, it is the body's own, and a body without one can't be sent as it is.
        head = f"Content-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n"
        return head, data if alone else data + b"\r\n"
    return f"Content-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n", _base64(data)


def _multipart(kind: str, boundary: str, parts: list[tuple[str, bytes]]) -> tuple[str, bytes]:
    pieces: list[bytes] = []
    line = f"--{boundary}\r\n"
    for head, body in parts:
        pieces += (f"{line}{head}\r\n".encode(), body)
    pieces.append(f"--{boundary}--\r\n".encode())
    return f'Content-Type: multipart/{kind};\r\n boundary="{boundary}"\r\n', b"".join(pieces)


@lru_cache(maxsize=64)
def _remembered(attachment: Attachment) -> bytes:
    return _base64(attachment.content)


def _inline(attachment: Attachment, i: int) -> tuple[str, bytes]:
    cid = attachment.inline_cid or ""
    if not _CID.fullmatch(cid):
        raise BadValueError(
            f"attachments[{i}].inline_cid", "must be letters, digits and . _ + - with at most one @"
        )
    head = _file_head(attachment, i, "inline") + f"Content-ID: <{cid}>\r\n"
    small = len(attachment.content) <= _MOST_REMEMBERED
    return head, _remembered(attachment) if small else _base64(attachment.content)


def _attached(attachment: Attachment, i: int) -> tuple[str, bytes]:
    return _file_head(attachment, i, "attachment"), _base64(attachment.content)


def _file_head(attachment: Attachment, i: int, disposition: str) -> str:
    media_type = refuse_breaks(attachment.media_type, f"attachments[{i}].media_type").lower()
    if not _MEDIA_TYPE.fullmatch(media_type) or media_type.startswith(("message/", "multipart/")):
        raise BadValueError(
            f"attachments[{i}].media_type",
            "must be a type such as application/pdf, not message/… or multipart/…",
        )
    name = filename_parameter(attachment.filename, f"attachments[{i}].filename")
    return (
        f"Content-Type: {media_type}\r\nContent-Transfer-Encoding: base64\r\n"
        f"Content-Disposition: {disposition}{name}\r\n"
    )


def _base64(data: bytes) -> bytes:
    """In lines of 76, each with its CRLF; nothing for nothing."""
    encoded = binascii.b2a_base64(data, newline=False)
    lines = [encoded[i : i + 76] for i in range(0, len(encoded), 76)]
    lines.append(b"")
    return b"\r\n".join(lines)
