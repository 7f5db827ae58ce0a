"""Reads a message as a person's mail program would: subject, text, HTML, pictures, headers."""

import base64
import email
import html as entities
import re
from collections.abc import Mapping
from contextlib import suppress
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.utils import parseaddr
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from tidings.sandbox.store import MessageText, ReceivedMessage

_CID = re.compile(r"cid:([A-Za-z0-9._+@-]+)", re.IGNORECASE)
_CHANNELS = frozenset("email sms whatsapp telegram viber voice push inapp webhook".split())  # noqa: SIM905
#: How vendors call a message's text, the likeliest first.
_TEXTS = ("text", "body", "textbody", "message", "content", "code", "value", "twiml")
_MOST_LOOKED_AT = 1000
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"})


_WRAPPED = "white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext"
_LETTER = f'<pre dir="auto" style="{_WRAPPED}">%s</pre>'
_SCREEN = (
    '<body style="margin:0;padding:1rem;background:#e8edf3;color:#1c2430;font:16px/1.45 system-ui,sans-serif">'
    "%s</body>"
)
_BUBBLE = _SCREEN % (
    '<div dir="auto" style="max-width:20rem;width:fit-content;padding:.7rem .95rem;background:#fff;'
    f'border-radius:1.1rem;box-shadow:0 1px 2px #0003;{_WRAPPED}">%s</div>'
)
_BANNER = _SCREEN % (
    '<div style="max-width:24rem;margin:0 auto;padding:.7rem .95rem;background:#fff;border-radius:1.1rem;'
    'box-shadow:0 2px 8px #0002">%s</div>'
)
_APP = f'<div dir="auto" style="color:#5c6675;font-size:.8rem;{_WRAPPED}">%s</div>'
_LINE = f'<div dir="auto" style="{_WRAPPED}">%s</div>'
_TITLE = f'<div dir="auto" style="font-weight:600;{_WRAPPED}">%s</div>'


class SandboxMessageView(msgspec.Struct, frozen=True, kw_only=True):
    """A message as the API shows it."""

    id: str
    adapter: str
    channel: str
    from_: str = msgspec.field(name="from")
    to: str
    subject: str | None
    text: str | None
    html: str | None
    headers: dict[str, str]
    received_at: str


def show(message: ReceivedMessage) -> SandboxMessageView:
    """All of it."""
    if message.adapter == "smtp":
        return _show_mail(message)
    return _show_json(message)


def title(message: ReceivedMessage) -> str:
    """Its subject, or the beginning of its text, for a list."""
    if message.adapter != "smtp":
        shown = _show_json(message)
        return (shown.subject or shown.text or "")[:200]
    head = message.raw[: message.raw.find(b"\r\n\r\n") + 2 or 65536][:65536]
    found = re.search(rb"^subject:([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)", head, re.IGNORECASE | re.MULTILINE)
    return _decoded(found[1].decode("utf-8", "replace")) if found else ""


def page_html(message: ReceivedMessage) -> str:
    """Its HTML with inline pictures in place; its text where it has none, as telephones show it."""
    shown = show(message)
    if shown.html is None:
        return _as_text(message, shown)
    if message.adapter != "smtp":
        return shown.html
    pictures = _pictures(email.message_from_bytes(message.raw))
    return _CID.sub(lambda match: pictures.get(match[1].lower(), match[0]), shown.html)


def _as_text(message: ReceivedMessage, shown: SandboxMessageView) -> str:
    """As a device's screen shows it; the request itself where nothing is known that a person would see."""
    text = entities.escape(shown.text or "")
    if message.channel == "push":
        parts = ((_APP, message.sender), (_TITLE, shown.subject), (_LINE, shown.text))
        return _BANNER % "".join(line % entities.escape(words) for line, words in parts if words)
    if not text and message.adapter != "smtp":
        return _LETTER % entities.escape(_laid_out(message.raw.partition(b"\n")[2]))
    return (_LETTER if message.channel == "email" else _BUBBLE) % text


def _laid_out(content: bytes) -> str:
    """JSON as people read it; anything else as it came."""
    with suppress(msgspec.DecodeError, RecursionError):
        content = msgspec.json.format(content, indent=2)
    return content.decode("utf-8", "replace")


def files(message: ReceivedMessage) -> list[tuple[str, str, int]]:
    """What is attached: name, type, bytes."""
    if message.adapter != "smtp":
        return []
    return [
        (_file_name(part), part.get_content_type(), len(_content(part)))
        for part in email.message_from_bytes(message.raw).walk()
        if part.get_content_disposition() == "attachment"
    ]


def _show_mail(message: ReceivedMessage) -> SandboxMessageView:
    parsed = email.message_from_bytes(message.raw)
    headers: dict[str, str] = {}
    for name, value in parsed.items():
        text = _decoded(str(value))
        headers[name] = f"{headers[name]}\n{text}" if name in headers else text
    texts: dict[str, str] = {}
    for part in parsed.walk():
        kind = part.get_content_type()
        if kind in {"text/plain", "text/html"} and part.get_content_disposition() != "attachment":
            texts.setdefault(kind, _text(part))
    return SandboxMessageView(
        id=message.id,
        adapter=message.adapter,
        channel=message.channel,
        from_=parseaddr(str(parsed.get("From", "")))[1] or message.sender,
        to=", ".join(message.to),
        subject=_decoded(str(parsed["Subject"])) if "Subject" in parsed else None,
        text=texts.get("text/plain"),
        html=texts.get("text/html"),
        headers=headers,
        received_at=moment(message),
    )


def _show_json(message: ReceivedMessage) -> SandboxMessageView:
    body, headers = split_request(message.raw)
    words = message.words or _words(body)
    return SandboxMessageView(
        id=message.id,
        adapter=message.adapter,
        channel=message.channel,
        from_=message.sender,
        to=", ".join(message.to),
        subject=words.subject,
        text=words.text,
        html=words.html,
        headers=headers,
        received_at=moment(message),
    )


def _words(body: dict[str, Any]) -> MessageText:
    """What a body says under usual names."""
    return MessageText(
        subject=_string(body.get("subject")),
        text=_string(body.get("text")) or _string(body.get("body")) or _string(body.get("message")),
        html=_string(body.get("html")),
    )


def found_words(body: dict[str, Any]) -> MessageText:
    """What a vendor's body says under usual names, however deep they are and whatever their case."""
    flat: dict[str, str] = {}
    waiting: list[Any] = [body]
    for _ in range(_MOST_LOOKED_AT):
        if not waiting:
            break
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            for name, inner in value.items():
                if isinstance(inner, str):
                    flat.setdefault(str(name).lower(), inner)
                elif isinstance(inner, dict | list):
                    waiting.append(inner)
    return MessageText(
        subject=next((flat[name] for name in ("subject", "title") if name in flat), None),
        text=next((flat[name] for name in _TEXTS if name in flat), None),
        html=next((flat[name] for name in ("html", "htmlbody") if name in flat), None),
    )


def moment(message: ReceivedMessage) -> str:
    """When it came, as RFC 3339 has it."""
    return message.received_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def join_request(headers: dict[str, str], body: bytes) -> bytes:
    """A request in one piece, for keeping."""
    return msgspec.json.encode(headers) + b"\n" + body


def split_request(raw: bytes) -> tuple[dict[str, Any], dict[str, str]]:
    """The body, as far as it is a JSON object or a form, and the headers."""
    head, _, content = raw.partition(b"\n")
    headers = msgspec.json.decode(head, type=dict[str, str])
    return read_body(headers, content), headers


def read_body(headers: Mapping[str, str], content: bytes) -> dict[str, Any]:
    """A form's fields where the headers say that it is one; otherwise a JSON object."""
    if headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return dict(parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True))
    return read_object(content)


def read_object(content: bytes) -> dict[str, Any]:
    """A JSON object; an empty one where it is none."""
    try:
        body = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        body = None
    return body if isinstance(body, dict) else {}


def channel_of(path: str, body: dict[str, Any]) -> str:
    """Which channel a request is for: it says so, or its path does."""
    said = body.get("channel")
    if isinstance(said, str) and said in _CHANNELS:
        return said
    return next((step for step in path.split("/") if step in _CHANNELS), "webhook")


def recipients_of(body: dict[str, Any]) -> tuple[str, ...]:
    """Whom it is for."""
    to = body.get("to", body.get("recipient"))
    many = to if isinstance(to, list) else [to]
    return tuple(text for item in many if (text := _string(item)) is not None)


def sender_of(body: dict[str, Any]) -> str:
    """Who it says it is from."""
    return _string(body.get("from", body.get("sender"))) or ""


def _string(value: object) -> str | None:
    if isinstance(value, dict):
        value = next((value[k] for k in ("address", "email", "phone", "value") if k in value), None)
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _decoded(value: str) -> str:
    unfolded = value.replace("\r\n", "").replace("\n", "").strip()
    if "=?" not in unfolded:
        return unfolded
    try:
        pieces = decode_header(unfolded)
        return "".join(
            piece.decode(charset or "utf-8", "replace") if isinstance(piece, bytes) else piece
            for piece, charset in pieces
        )
    except (MessageError, LookupError, ValueError):
        return unfolded


def _content(part: "Message[str, str]") -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _text(part: "Message[str, str]") -> str:
    charset = part.get_content_charset() or "utf-8"
    try:
        text = _content(part).decode(charset, "replace")
    except LookupError:
        text = _content(part).decode("utf-8", "replace")
    return text.replace("\r\n", "\n")


def _file_name(part: "Message[str, str]") -> str:
    return _decoded(part.get_filename() or "")


def _pictures(parsed: "Message[str, str]") -> dict[str, str]:
    found: dict[str, str] = {}
    for part in parsed.walk():
        cid, kind = part.get("Content-ID"), part.get_content_type()
        if cid is not None and kind in _PICTURES:
            found[str(cid).strip().strip("<>").lower()] = (
                f"data:{kind};base64,{base64.b64encode(_content(part)).decode('ascii')}"
            )
    return found
