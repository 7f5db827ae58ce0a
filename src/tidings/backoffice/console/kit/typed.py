"""What somebody typed into a form, as the API wants it. What is not of its kind goes as it was typed: the API names the field."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final

_MICROS: Final = 1_000_000
_LOCAL: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?")
_WITHOUT_SECONDS: Final = len("2026-11-15T12:00")


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A form that is shown again: what was typed into it, and what is wrong with it."""

    fields: Mapping[str, str] | None = None
    errors: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str, otherwise: object = "") -> str:
        """What stands in a field: what was typed, or what is there already."""
        if self.fields is not None:
            return self.fields.get(name, "")
        return "" if otherwise is None else str(otherwise)

    def ticked(self, name: str, *, otherwise: bool = False) -> bool:
        """Whether a box is ticked."""
        return otherwise if self.fields is None else name in self.fields

    def fault(self, *names: str) -> str | None:
        """What the API says against a field, by the names that it has there."""
        return next((self.errors[name] for name in names if name in self.errors), None)


def text(fields: Mapping[str, str], name: str) -> str | None:
    """One line, without the spaces around it; None where nothing was typed."""
    return fields.get(name, "").strip() or None


def whole(fields: Mapping[str, str], name: str) -> int | str | None:
    """A whole number."""
    typed = text(fields, name)
    return int(typed) if typed and typed.isascii() and typed.lstrip("-").isdecimal() else typed


def decimal(fields: Mapping[str, str], name: str) -> float | str | None:
    """A number with a fraction."""
    typed = text(fields, name)
    try:
        return None if typed is None else float(typed)
    except ValueError:
        return typed


def micros(fields: Mapping[str, str], name: str) -> int | str | None:
    """An amount of money, in millionths."""
    typed = text(fields, name)
    if typed is None:
        return None
    try:
        return int(Decimal(typed) * _MICROS)
    except (InvalidOperation, ValueError, OverflowError):
        return typed


def amount(value: int | None) -> str:
    """Millionths as they are typed."""
    return "" if value is None else f"{Decimal(value) / _MICROS:f}"


def several(fields: Mapping[str, str], name: str) -> list[str]:
    """Words with spaces, commas or lines between them."""
    return fields.get(name, "").replace(",", " ").split()


def lines(fields: Mapping[str, str], name: str) -> list[str]:
    """Lines, without the empty ones."""
    return [line.strip() for line in fields.get(name, "").splitlines() if line.strip()]


def moment_of(fields: Mapping[str, str], name: str) -> str | None:
    """A time of a `datetime-local` field, which is in UTC here, and has no seconds where they are nothing."""
    typed = text(fields, name)
    if typed is None or not _LOCAL.fullmatch(typed):
        return typed
    return f"{typed}:00Z" if len(typed) == _WITHOUT_SECONDS else f"{typed}Z"


def given(**values: Any) -> dict[str, Any]:
    """Those that are there."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}
