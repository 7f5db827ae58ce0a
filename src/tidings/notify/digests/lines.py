"""What a digest tells of each item: its subject, a short text, where it leads and when it was; pure."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tidings.contracts.ids import NotificationId
from tidings.contracts.tenants import Channel
from tidings.notify.render.model import Rendered
from tidings.notify.tenants.link_domains import host_allowed

#: Items that a digest shows; of the others it says how many there are.
MOST_SHOWN: Final = 50
#: Characters.
_MOST_TITLE: Final = 200
_MOST_SUMMARY: Final = 300
_MOST_URL: Final = 1_000
#: Bytes of all lines together, as JSON: the variables of a message have room for 64 KiB.
_MOST_BYTES: Final = 48 * 1024
#: Characters of all lines together, in messages of a chat; the least of them is Telegram's, with 4,096 in all. By UTF-16, as they count.
_MOST_IN_A_CHAT: Final = 3_000
_CHATS: Final = frozenset({"telegram", "viber", "whatsapp"})
_SPACE: Final = re.compile(r"\s+")
_LINK: Final = re.compile(r"https?://[^\s<>\"]+\Z")


class DigestLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One item, as the digest's template takes it."""

    title: str
    summary: str | None = None
    url: str | None = None
    at: datetime
    #: The digest before told it too, and was not opened.
    again: bool = False

    def __repr__(self) -> str:
        return "DigestLine(***)"


def line_of(
    rendered: Rendered | None,
    variables: Mapping[str, Any],
    *,
    template_key: str,
    at: datetime,
    allowed_link_domains: Sequence[str],
) -> DigestLine:
    """The line of an item; by the name of its template where it can't be rendered."""
    subject = _short(rendered.subject, _MOST_TITLE) if rendered is not None else ""
    text = _short(rendered.text, _MOST_SUMMARY) if rendered is not None else ""
    title = subject or _short(text, _MOST_TITLE) or template_key.replace("_", " ").replace(".", " ")
    return DigestLine(
        title=title,
        summary=text if subject and text else None,
        url=_link_in(variables, allowed_link_domains),
        at=at,
    )


def variables_of(
    lines: Mapping[NotificationId, DigestLine],
    live: Sequence[NotificationId],
    channels: Collection[Channel],
    again: Sequence[NotificationId] = (),
) -> dict[str, Any]:
    """What the template is filled with, of those of the lines that are still wanted, the newest first; then those told `again`.

    `channels`: those that the digest may go over; a chat takes shorter messages than a mail.
    """
    shown: list[Any] = []
    size = characters = 0
    in_chat = not _CHATS.isdisjoint(channels)
    for id_ in (*sorted(live, reverse=True), *sorted(again, reverse=True)):
        line = lines.get(id_)
        if line is None or len(shown) == MOST_SHOWN:
            continue
        encoded = msgspec.json.encode(line)
        size += len(encoded)
        characters += _characters(line)
        if size > _MOST_BYTES or (in_chat and characters > _MOST_IN_A_CHAT):
            break
        shown.append(msgspec.json.decode(encoded))
    count = len(live) + len(again)
    more = count - len(shown)
    return {"count": count, "items": shown, **({"more": more} if more else {})}


def _characters(line: DigestLine) -> int:
    told = f"{line.title} {line.summary or ''} {line.url or ''}"
    return len(told.encode("utf-16-le")) // 2


def _short(text: str | None, most: int) -> str:
    told = _SPACE.sub(" ", text or "").strip()
    return told if len(told) <= most else f"{told[: most - 1].rstrip()}…"


def _link_in(variables: Mapping[str, Any], allowed: Sequence[str]) -> str | None:
    """The variable `url` or `link`, or else the only one whose name ends with `_url`."""
    named = [variables[name] for name in ("url", "link") if name in variables]
    named = named[:1] or [value for name, value in variables.items() if name.endswith("_url")]
    if len(named) != 1 or not isinstance(named[0], str):
        return None
    url: str = named[0]
    if len(url) > _MOST_URL or not _LINK.match(url):
        return None
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return None
    return url if host and (not allowed or host_allowed(host, allowed)) else None
