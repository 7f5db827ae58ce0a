"""A mail from strangers, taken apart within bounds: few parts, few levels, short heads, no more bytes than are kept.

The standard library reads heads and parameters. It does not take the tree apart: a mail of many nested parts would cost it the
square of its size.
"""

import base64
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesHeaderParser
from typing import Final

#: Bytes of a head; what stands behind them is not read.
_MOST_HEAD: Final = 64 * 1024
#: Parts of a mail, all levels together, and levels.
_MOST_PARTS: Final = 30
_DEEPEST: Final = 4
#: Characters of a Content-Type: the standard library takes the square of it.
_MOST_KIND: Final = 2000
_LINE_ENDS: Final = re.compile(rb"[ \t]*(?:\r?\n|\Z)")
_HEAD_ENDS: Final = re.compile(rb"\r?\n\r?\n")
_heads: Final = BytesHeaderParser()


@dataclass(frozen=True, slots=True)
class MailPart:
    """A mail, or a part of one."""

    head: Message
    #: As it came, still encoded.
    raw: bytes = field(repr=False)

    @property
    def kind(self) -> str:
        """`message/delivery-status`."""
        return self.head.get_content_type().lower()

    def text(self, name: str) -> str:
        """A header as one line; empty where there is none."""
        return one_line(self.head.get(name, ""))

    def content(self) -> bytes:
        """Decoded, as far as that is possible."""
        match self.text("content-transfer-encoding").lower():
            case "base64":
                # Lines are wrapped, and what is kept of a large mail has no end.
                letters = re.sub(rb"[^A-Za-z0-9+/]", b"", self.raw)
                whole = letters[:-1] if len(letters) % 4 == 1 else letters
                return base64.b64decode(whole + b"=" * (-len(whole) % 4))
            case "quoted-printable":
                return quopri.decodestring(self.raw)
            case _:
                return self.raw


def one_line(value: object) -> str:
    """A header's value without its folds."""
    return " ".join(str(value).split())


def open_mail(raw: bytes) -> MailPart:
    """A mail as it came."""
    # Some servers put a line of their own in front, as in a file of mails.
    if raw.startswith(b"From "):
        raw = raw.partition(b"\n")[2]
    return _opened(raw)


def parts_of(part: MailPart) -> Iterator[MailPart]:
    """All parts of a mail that have no parts themselves, in their order, the mail itself where it is not in parts."""
    seen = 0
    waiting: list[tuple[MailPart, int]] = [(part, 0)]
    while waiting and seen < _MOST_PARTS:
        here, level = waiting.pop(0)
        seen += 1
        inner = _split(here) if level < _DEEPEST else None
        if inner is None:
            yield here
        else:
            waiting[:0] = [(one, level + 1) for one in inner]


def fields_of(content: bytes) -> list[Message]:
    """Groups of fields with empty lines between them, as a delivery status has them."""
    groups = [group for group in re.split(rb"(?:\r?\n[ \t]*){2,}", content[:_MOST_HEAD].strip()) if group]
    return [_heads.parsebytes(group) for group in groups[:_MOST_PARTS]]


def _opened(raw: bytes) -> MailPart:
    if raw.startswith((b"\n", b"\r\n")):
        # A part without a head.
        return MailPart(head=_heads.parsebytes(b""), raw=raw.lstrip(b"\r\n"))
    end = _HEAD_ENDS.search(raw, 0, _MOST_HEAD)
    if end is None:
        return MailPart(head=_heads.parsebytes(raw[:_MOST_HEAD]), raw=b"")
    return MailPart(head=_heads.parsebytes(raw[: end.start()]), raw=raw[end.end() :])


def _split(part: MailPart) -> list[MailPart] | None:
    """Its parts; None where it has none."""
    if not part.kind.startswith("multipart/") or len(str(part.head["content-type"])) > _MOST_KIND:
        return None
    try:
        boundary = part.head.get_boundary()
    except (ValueError, LookupError):
        return None
    if not boundary:
        return None
    found: list[MailPart] = []
    start: int | None = None
    for before, after, last in _boundaries(part.raw, b"--" + boundary.encode("utf-8", "surrogateescape")):
        if start is not None:
            found.append(_opened(part.raw[start:before]))
        start = None if last else after
        if last or len(found) >= _MOST_PARTS:
            break
    else:
        if start is not None:
            # The end was cut off.
            found.append(_opened(part.raw[start:]))
    return found


def _boundaries(raw: bytes, line: bytes) -> Iterator[tuple[int, int, bool]]:
    """Where lines of the boundary begin, with the break before them, where they end, and whether it is the last."""
    at = raw.find(line)
    while at >= 0:
        last = raw.startswith(b"--", at + len(line))
        end = _LINE_ENDS.match(raw, at + len(line) + (2 if last else 0))
        if end is not None and (at == 0 or raw[at - 1] == 0x0A):
            before = at - (2 if raw[at - 2 : at] == b"\r\n" else 1)
            yield max(before, 0), end.end(), last
        at = raw.find(line, at + len(line))
