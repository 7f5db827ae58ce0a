"""Texts as files: UTF-8, lines that end with one line feed, and a last one that belongs to the file."""

import json
from dataclasses import dataclass
from typing import Any

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class TextFault:
    """Where a file stops being what it should be, and what it is instead."""

    line: int
    column: int
    what: str
    how: str


def from_file(raw: bytes) -> str | TextFault:
    """The text in a file. The line feed at its end is the file's, as editors and git want one there."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = _position(raw[: error.start])
        return TextFault(line, column, "is not valid UTF-8", "save it as UTF-8")
    if (at := text.find("\x00")) >= 0:
        line, column = _position(text[:at].encode())
        return TextFault(line, column, "holds a zero character", "take it out, or save it as UTF-8")
    return _lines(text.removeprefix(_BOM)).removesuffix("\n")


def to_file(text: str) -> bytes:
    """The file that `from_file` reads as this text."""
    return (_lines(text) + "\n").encode()


def broken_json(raw: bytes) -> TextFault | None:
    """Where a file is no JSON; None where it is."""
    text = from_file(raw)
    if isinstance(text, TextFault):
        return text
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        return TextFault(
            error.lineno, error.colno, "is not valid JSON", error.msg[:1].lower() + error.msg[1:]
        )
    except RecursionError:
        return TextFault(1, 1, "is nested too deeply", "make it flatter")
    return None


def json_file(value: Any) -> bytes:
    """JSON as people read it, and as git compares it line by line."""
    return to_file(json.dumps(value, indent=2, ensure_ascii=False))


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _position(before: bytes) -> tuple[int, int]:
    last = before.rpartition(b"\n")[2]
    return before.count(b"\n") + 1, len(last.decode("utf-8", "replace")) + 1
