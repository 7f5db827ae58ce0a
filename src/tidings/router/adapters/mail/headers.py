"""Header fields as they go over the wire: encoded, folded, and with no way to smuggle in another one.

A field is one text that ends in CRLF. Plain ASCII stays readable; anything else becomes encoded words (RFC 2047)
or extended parameters (RFC 2231). A value with CR, LF or NUL is refused by the name of its field: mending it would
hide the attempt.
"""

import binascii
import re
from functools import lru_cache
from urllib.parse import quote

from tidings.contracts.addresses import local_part
from tidings.kernel.errors import BadValueError
from tidings.kernel.urls import normalise_host

#: Where a line is folded; the hard limit of SMTP is 998.
_LINE = 76
#: What ends a line or a text, and halves of characters.
_UNWRITABLE = re.compile("[\r\n\0\ud800-\udfff]")
#: Words of visible ASCII, each short enough for a line of its own, with spaces only between them.
_PLAIN = re.compile(r"[\x21-\x7e]{1,70}(?: {1,4}[\x21-\x7e]{1,70})*")
#: The same for programs: a piece may be as long as a line of SMTP.
_TOKENS = re.compile(r"[\x21-\x7e]{1,900}(?: {1,4}[\x21-\x7e]{1,900})*")
#: Fields that programs read (RFC 5322, 3.6; RFC 2919; RFC 2369; RFC 8058; RFC 3798; RFC 4021).
_STRUCTURED = frozenset(
    {
        "archived-at",
        "authentication-results",
        "auto-submitted",
        "disposition-notification-to",
        "errors-to",
        "feedback-id",
        "importance",
        "in-reply-to",
        "original-message-id",
        "precedence",
        "priority",
        "references",
        "require-recipient-valid-since",
        "sensitivity",
        "supersedes",
        "x-priority",
    }
)
_WORD = re.compile(r" *[^ ]+")
_QUOTABLE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,58}[\x21-\x7e])?")
_LOCAL = re.compile(r"[^\s@\"(),:;<>\[\]\\.\x00-\x1f\x7f]+(?:\.[^\s@\"(),:;<>\[\]\\.\x00-\x1f\x7f]+)*")
_NAME = re.compile(r"[\x21-\x39\x3b-\x7e]{1,60}")
#: A parameter that a quoted string can hold without a second thought.
_SIMPLE_FILENAME = re.compile(r"[A-Za-z0-9!#$&+._-](?:[A-Za-z0-9!#$&+._ -]{0,48}[A-Za-z0-9!#$&+._-])?")


def refuse_breaks(value: str, field: str) -> str:
    """`value`, which has no line break and no zero in it and can be written as UTF-8."""
    if found := _UNWRITABLE.search(value):
        if found[0] in "\r\n\0":
            raise BadValueError(field, "must not contain line breaks or zero characters")
        raise BadValueError(field, "must be valid Unicode text")
    return value


def check_name(name: str, field: str) -> str:
    """`name`, which can stand before the colon."""
    if not _NAME.fullmatch(name):
        raise BadValueError(
            field, "must be a header's name: visible ASCII without a colon, at most 60 characters"
        )
    return name


def is_structured(name: str) -> bool:
    """Whether programs read the field's value: encoded words may not stand in it (RFC 2047, 5)."""
    lowered = name.lower()
    return lowered in _STRUCTURED or lowered.startswith(("list-", "resent-"))


def structured(name: str, value: str, field: str) -> str:
    """A field of tokens for programs: folded between them, and never encoded."""
    refuse_breaks(value, field)
    if not value.isascii():
        raise BadValueError(field, f"must be ASCII: {name} is read by programs")
    if not _TOKENS.fullmatch(value):
        raise BadValueError(
            field, "must be visible characters with single blanks between them, at most 900 in one piece"
        )
    return _folded(name, value)


def unstructured(name: str, value: str, field: str) -> str:
    """A field of words for people: Subject and the like."""
    refuse_breaks(value, field)
    if "=?" not in value and _PLAIN.fullmatch(value):
        if len(name) + len(value) + 2 <= _LINE:
            return f"{name}: {value}\r\n"
        return _folded(name, value)
    if not value:
        return f"{name}:\r\n"
    return f"{name}: {_encoded_words(value, first=_LINE - len(name) - 2)}\r\n"


def _folded(name: str, value: str) -> str:
    lines, line = [], f"{name}:"
    words = _WORD.findall(" " + value)
    for word in words:
        if len(line) + len(word) > _LINE and line != f"{name}:":
            lines.append(line)
            line = ""
        line += word
    lines.append(line)
    return "\r\n".join(lines) + "\r\n"


def _encoded_words(value: str, *, first: int) -> str:
    """`value` as encoded words, each whole in itself: none ends within a character."""
    data = value.encode()
    room = max(first - 12, 16) // 4 * 3
    words, start = [], 0
    while start < len(data):
        end = start + room
        if end < len(data):
            while data[end] & 0xC0 == 0x80:
                end -= 1
        words.append(f"=?utf-8?b?{binascii.b2a_base64(data[start:end], newline=False).decode('ascii')}?=")
        start, room = end, 45
    return "\r\n ".join(words)


class MailAddress:
    """An address in the two spellings that mail has: for the envelope, and whether it needs SMTPUTF8."""

    __slots__ = ("domain", "local", "needs_utf8")

    def __init__(self, value: str, field: str) -> None:
        local, at, domain = value.rpartition("@")
        host = ascii_domain(domain) if at else None
        if local.startswith('"'):
            local = local_part(local) or ""
            plain = bool(local)
        else:
            plain = _LOCAL.fullmatch(local) is not None
        if host is None or not plain or len(local) > 64:
            raise BadValueError(field, "must be an e-mail address such as name@example.org")
        refuse_breaks(local, field)
        self.local = local
        self.domain = host
        self.needs_utf8 = not local.isascii()

    @property
    def spec(self) -> str:
        """`local@domain`, the domain in ASCII."""
        return f"{self.local}@{self.domain}"


@lru_cache(maxsize=4096)
def ascii_domain(domain: str) -> str | None:
    """A domain in its ASCII spelling, or None where it is none."""
    return normalise_host(domain)


def mailbox(header: str, address: MailAddress, name: str | None, field: str) -> str:
    """A field that holds one address and what people see beside it."""
    spec = f"<{address.spec}>"
    if not name:
        return f"{header}: {spec}\r\n"
    refuse_breaks(name, field)
    if "=?" not in name and _QUOTABLE.fullmatch(name):
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        phrase = f'{header}: "{quoted}"'
    else:
        phrase = f"{header}: {_encoded_words(name, first=_LINE - len(header) - 2)}"
    last = len(phrase) - (phrase.rfind("\n") + 1)
    return f"{phrase} {spec}\r\n" if last + 1 + len(spec) <= _LINE else f"{phrase}\r\n {spec}\r\n"


def filename_parameter(filename: str, field: str) -> str:
    """`; filename=…` of a Content-Disposition, in as many pieces as it takes."""
    refuse_breaks(filename, field)
    if not filename:
        raise BadValueError(field, "must not be empty")
    if _SIMPLE_FILENAME.fullmatch(filename):
        return f';\r\n filename="{filename}"'
    pieces, piece = [], "UTF-8''"
    for character in filename:
        written = quote(character, safe="!#$&+-.^_`|~")
        if len(piece) + len(written) > 60:
            pieces.append(piece)
            piece = ""
        piece += written
    pieces.append(piece)
    if len(pieces) == 1:
        return f";\r\n filename*={pieces[0]}"
    return "".join(f";\r\n filename*{i}*={piece}" for i, piece in enumerate(pieces))
