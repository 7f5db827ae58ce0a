"""What the console says, in the languages that it speaks; English where a language is not among them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from tidings.kernel.translations import SOURCE_LANGUAGE, Catalogue, read_catalogues

_LONGEST_HEADER: Final = 500


@dataclass(frozen=True, slots=True)
class ConsoleStrings:
    """One language: texts by their keys in `translations/`."""

    language: str
    direction: str
    texts: Mapping[str, str] = field(repr=False)

    def __getitem__(self, key: str) -> str:
        return self.texts[key]

    def error(self, code: str) -> str:
        """What a refusal says to people."""
        return self.texts.get(f"error.{code}") or self.texts["error.other"]

    def role(self, role: str) -> str:
        """What people call a role."""
        return self.texts[f"role.{role}"]

    def status(self, status: str) -> str:
        """What people call an operator's status."""
        return self.texts[f"status.{status}"]


@cache
def languages() -> Mapping[str, ConsoleStrings]:
    """The languages of the console, by the language's code; read once, at first use."""
    return {code: _strings(found) for code, found in read_catalogues(__package__).items()}


def strings_accepted(header: str | None) -> ConsoleStrings:
    """What a browser asks for first and we speak, or English."""
    for part in (header or "")[:_LONGEST_HEADER].split(","):
        code = part.partition(";")[0].strip().lower().replace("_", "-").partition("-")[0]
        if code in languages():
            return languages()[code]
    return languages()[SOURCE_LANGUAGE]


def _strings(catalogue: Catalogue) -> ConsoleStrings:
    from babel import Locale  # takes 30 ms to import

    direction = Locale.parse(catalogue.language, sep="-").text_direction
    return ConsoleStrings(catalogue.language, direction, catalogue.texts)
