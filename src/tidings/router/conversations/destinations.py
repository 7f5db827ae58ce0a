"""The one spelling of what people write to, so that a message finds the conversation that its number began."""

import re
from typing import Final

_GAPS: Final = re.compile(r"[\s().\-\u2010-\u2015]+")
_NUMBER: Final = re.compile(r"\+?[0-9]+")
#: Shorter ones are short codes.
_LEAST_DIGITS: Final = 8
_MOST_DIGITS: Final = 15
_LONGEST: Final = 200
#: Channels with telephone numbers as handles, which vendors write with and without the plus.
_DIALLED: Final = frozenset({"sms", "voice"})


def canonical(channel: str, text: str) -> str:
    """The spelling under which conversations and inbound messages have it.

    Of whatever is no telephone number, such as a page's id or a bot's name, only the ends are trimmed.
    """
    # Letters that no column takes, and lengths that no index does, come from no honest sender.
    trimmed = text.replace("\x00", "").strip()[:_LONGEST]
    bare = _GAPS.sub("", trimmed.removeprefix(f"{channel}:"))
    if not _NUMBER.fullmatch(bare):
        return trimmed
    digits = bare.removeprefix("+")
    if bare.startswith("+"):
        return f"+{digits}"
    # A zero in front is a number as its country dials it; which country is not said.
    if channel in _DIALLED and _LEAST_DIGITS <= len(digits) <= _MOST_DIGITS and not digits.startswith("0"):
        return f"+{digits}"
    return digits


def spellings(destination: str) -> tuple[str, ...]:
    """How a route may have written it: as it is, and a number without its plus."""
    bare = destination.removeprefix("+")
    return (destination,) if bare == destination else (destination, bare)
