"""A vendor's words as they may be kept: without the person's address, without what was said, not too long."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, quote_plus

from tidings.contracts.messages import OutboundMessage
from tidings.kernel.logs import redact_text

MOST_CHARACTERS: Final = 300
#: Far more than is kept is not looked at.
_MOST_READ: Final = 4000
#: Nor is more of a long message.
_MOST_SAID: Final = 20_000
#: Shorter words would be found in everything.
_SHORTEST: Final = 3
#: Of a number that was written in another way so many digits, counted from its end, are enough to know it by.
_TELLING_DIGITS: Final = 7
#: A code or a number of the message: shorter ones are a vendor's own.
_NUMBER: Final = re.compile(r"\d[\d\s.-]{2,}\d")
_CODE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}")
_WORD: Final = re.compile(r"\w+")
_TAG: Final = re.compile(r"<[^>]*>")
#: So many words of the message in a row are the message, and not a vendor's own way of saying something.
_IN_A_ROW: Final = 3
_HIDDEN: Final = "…"


def clean(text: str, message: OutboundMessage) -> str:
    """One line without control characters, and without anything personal of the message."""
    said = _TAG.sub(" ", f"{message.subject or ''} {message.text or ''} {message.html or ''}"[:_MOST_SAID])
    line = _unaddressed(_without_quotes(_one_line(text), said), message)
    return _short(redact_text(_without_numbers(line, message, said)))


def clean_code(text: str, message: OutboundMessage) -> str:
    """The same of a vendor's code: its numbers are its own, also where the message has one like it."""
    return _short(redact_text(_unaddressed(_one_line(text), message)))


def kept_words(text: str | None) -> str | None:
    """The reason that a vendor gave for an event: one line, not too long, without an address."""
    return None if text is None else _short(redact_text(_one_line(text))) or None


def kept_code(text: str | None) -> str | None:
    """The code that a vendor gave for an event; something that is no code is left out."""
    if text is None:
        return None
    code = text.strip()
    return code if _CODE.fullmatch(code) and redact_text(code) == code else None


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text[:_MOST_READ]).split())


def _unaddressed(line: str, message: OutboundMessage) -> str:
    # The longest first: the whole address before its first half.
    words = sorted({word for word in _private(message) if len(word) >= _SHORTEST}, key=len, reverse=True)
    if words:
        line = re.sub("|".join(map(re.escape, words)), _HIDDEN, line, flags=re.IGNORECASE)
    return line


def _short(line: str) -> str:
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"


def _private(message: OutboundMessage) -> Iterator[str]:
    for to in (message.to, *message.also_to):
        # As it is, as a URL has it, and without what stands before a telephone number.
        yield from (to, quote(to), quote_plus(to), to.rpartition("@")[0], to.lstrip("+"))
    yield message.to_name or ""
    yield message.subject or ""


def _without_numbers(line: str, message: OutboundMessage, said: str) -> str:
    """Numbers that the address or the message has, however they are spaced."""
    address = _digits(message.to)

    def hide(found: re.Match[str]) -> str:
        digits = _digits(found[0])
        of_address = len(digits) >= _TELLING_DIGITS and digits[-_TELLING_DIGITS:] in address
        return _HIDDEN if of_address or digits in numbers else found[0]

    numbers = {_digits(found) for found in _NUMBER.findall(said)}
    return _NUMBER.sub(hide, line)


def _without_quotes(line: str, said: str) -> str:
    """What a vendor repeats of the message: runs of its own words."""
    heard = [word.casefold() for word in _WORD.findall(said)]
    runs = {tuple(heard[i : i + _IN_A_ROW]) for i in range(len(heard) - _IN_A_ROW + 1)}
    if not runs:
        return line
    words = list(_WORD.finditer(line))
    hidden: set[int] = set()
    for place in range(len(words) - _IN_A_ROW + 1):
        row = range(place, place + _IN_A_ROW)
        if tuple(words[i][0].casefold() for i in row) in runs:
            hidden.update(row)
    kept, end = "", 0
    for place, word in enumerate(words):
        if place not in hidden:
            continue
        if place - 1 not in hidden:
            kept += line[end : word.start()] + _HIDDEN
        end = word.end()
    return kept + line[end:]


def _digits(text: str) -> str:
    return "".join(c for c in text if c.isdigit())
