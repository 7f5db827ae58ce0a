"""The words of a condition, each with its place."""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from tidings.kernel.expressions.errors import ExpressionError

#: A condition has at most so many characters, a text in it so many, a number so many digits (a float is exact to 15).
MOST_CHARACTERS: Final = 4_000
MOST_CHARACTERS_OF_TEXT: Final = 500
MOST_DIGITS: Final = 15

_SPACE: Final = re.compile(r"[ \t\r\n]+")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_SIGN: Final = re.compile(r"!=|<>|<=|>=|==|[=<>().,\[\]]")
_TEXT: Final = re.compile(r"'((?:[^']|'')*)'(?!')")

#: They can't be the first name of a field, and are read in any case: `AND` is `and`.
KEYWORDS: Final = frozenset(
    ("and", "or", "not", "in", "is", "null", "true", "false", "contains", "starts", "with")
)
#: Signs of other languages that mean one of ours.
_SAME: Final = {"<>": "!=", "==": "="}


class Kind(Enum):
    """What a word is."""

    NAME = "a field"
    KEYWORD = "a keyword"
    TEXT = "a text"
    NUMBER = "a number"
    SIGN = "a sign"
    END = "the end"


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a condition."""

    kind: Kind
    #: As it means: a keyword in lower case, a text without its quotes.
    value: str
    #: As it is written, for messages.
    written: str
    position: int


def tokenize(text: str) -> list[Word]:
    """The words, and the end."""
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(
            text, position=MOST_CHARACTERS, remedy=f"a condition has at most {MOST_CHARACTERS} characters"
        )
    words: list[Word] = []
    position = 0
    while position < len(text):
        if found := _SPACE.match(text, position):
            position = found.end()
            continue
        token = _token(text, position)
        words.append(token)
        position += len(token.written)
    words.append(Word(Kind.END, "", "", len(text)))
    return words


def _token(text: str, position: int) -> Word:
    if found := _NAME.match(text, position):
        return _name(found.group(), position)
    if found := _NUMBER.match(text, position):
        return _number(text, found.group(), position)
    if found := _TEXT.match(text, position):
        return _quoted(text, found, position)
    if found := _SIGN.match(text, position):
        return Word(Kind.SIGN, _SAME.get(found.group(), found.group()), found.group(), position)
    raise ExpressionError(text, position=position, remedy=_remedy(text[position]))


def _name(written: str, position: int) -> Word:
    lower = written.lower()
    if lower in KEYWORDS:
        return Word(Kind.KEYWORD, lower, written, position)
    return Word(Kind.NAME, written, written, position)


def _number(text: str, written: str, position: int) -> Word:
    if sum(character.isdigit() for character in written) > MOST_DIGITS:
        raise ExpressionError(text, position=position, remedy=f"a number has at most {MOST_DIGITS} digits")
    return Word(Kind.NUMBER, written, written, position)


def _quoted(text: str, found: re.Match[str], position: int) -> Word:
    value = found.group(1).replace("''", "'")
    if len(value) > MOST_CHARACTERS_OF_TEXT:
        raise ExpressionError(
            text, position=position, remedy=f"a text has at most {MOST_CHARACTERS_OF_TEXT} characters"
        )
    for place, character in enumerate(found.group(1), start=position + 1):
        # No JSON and no database has them in a text.
        if character == "\x00" or "\ud800" <= character <= "\udfff":
            raise ExpressionError(text, position=place, remedy="this character can't stand in a text")
    return Word(Kind.TEXT, value, found.group(), position)


def _remedy(character: str) -> str:
    if character == "'":
        return "this text has no end: put ' after it, and write '' for a ' inside"
    if character in '"`‘’“”':
        return "write texts between ' and '"
    if character == "$":
        return "write a field without $: data.nights"
    if character in "&|":
        return "write `and` and `or`"
    if character == "!":
        return "write `not`, or != to compare"
    if character in "*%~":
        return "there are no patterns: write `contains` or `starts with`"
    return "this character has no meaning here"
