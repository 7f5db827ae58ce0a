"""Reads the content of an item from what was rendered: a JSON document, or a subject with a text."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from tidings.kernel.http.field_errors import explain
from tidings.kernel.mapping import by_name
from tidings.notify.inbox_content.links import LINKS, PICTURES, link_fault
from tidings.notify.inbox_content.markdown import html_of
from tidings.notify.inbox_content.model import (
    MOST_BODY,
    MOST_DATA_BYTES,
    MOST_TITLE,
    ContentFault,
    InboxContent,
    WrittenContent,
)

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(InboxContent).decode
_BODY: Final = "body"


def read_content(
    subject: str | None,
    text: str | None,
    *,
    json: bool,
    allowed: Sequence[str],
    locale: str | None = None,
    direction: Literal["ltr", "rtl"] = "ltr",
) -> InboxContent | ContentFault:
    """The content; a fault names the first field that is wrong. `allowed`: hosts that links may lead to, empty for any."""
    written = _written(subject, text, json=json)
    if isinstance(written, ContentFault):
        return written
    fault = next(_faults(written, allowed), None)
    if fault is not None:
        return fault
    body_html = None
    if written.body_format == "markdown":
        body_html, wrong = html_of(written.body, allowed)
        if wrong is not None:
            return ContentFault(field=_BODY, remedy=f"has a link that {wrong}")
    return by_name(
        InboxContent,
        written,
        title=written.title.strip(),
        tags=tuple(dict.fromkeys(written.tags)),
        body_html=body_html,
        locale=locale,
        direction=direction,
    )


def encode_content(content: InboxContent) -> str:
    """As it is handed on, and sealed."""
    return _encode(content).decode()


def decode_content(text: str | bytes) -> InboxContent:
    """What `encode_content` made."""
    return _decode(text)


def _written(subject: str | None, text: str | None, *, json: bool) -> WrittenContent | ContentFault:
    if not json:
        title, body = (subject or "").strip(), text or ""
        if not title or len(title) > MOST_TITLE:
            return ContentFault(
                field="subject", remedy=f"must have 1 to {MOST_TITLE} characters: it is the title"
            )
        if len(body) > MOST_BODY:
            return ContentFault(field=_BODY, remedy=f"must have at most {MOST_BODY} characters")
        return WrittenContent(title=title, body=body)
    try:
        document = msgspec.json.decode(text or "")
    except (msgspec.DecodeError, RecursionError):
        return ContentFault(field=_BODY, remedy="must be a JSON object with a title")
    try:
        written = msgspec.convert(document, WrittenContent)
    except msgspec.ValidationError as error:
        first = explain(document, WrittenContent, error)[0]
        return ContentFault(field=first.field or _BODY, remedy=first.remedy)
    if not written.title.strip():
        return ContentFault(field="title", remedy="must not be blank")
    if written.expires_at is not None and written.expires_at.tzinfo is None:
        return ContentFault(field="expires_at", remedy="must have an offset, such as 2026-11-15T12:00:00Z")
    if len(_encode(written.data)) > MOST_DATA_BYTES:
        return ContentFault(field="data", remedy=f"must take at most {MOST_DATA_BYTES} bytes")
    return written


def _faults(written: WrittenContent, allowed: Sequence[str]) -> Iterator[ContentFault]:
    if len({action.name for action in written.actions}) < len(written.actions):
        yield ContentFault(field="actions", remedy="must each have another name")
    links = [("link", written.link, LINKS), ("picture", written.picture, PICTURES)]
    links += [(f"actions[{place}].url", one.url, LINKS) for place, one in enumerate(written.actions)]
    for field, url, schemes in links:
        if url is not None and (wrong := link_fault(url, schemes, allowed)) is not None:
            yield ContentFault(field=field, remedy=wrong)
