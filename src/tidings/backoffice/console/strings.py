"""What the console says, in the languages that it speaks; English where a language is not among them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final

from tidings.kernel.translations import SOURCE_LANGUAGE, Catalogue, read_catalogues

_LONGEST_HEADER: Final = 500
#: The cookie by which somebody has chosen another language than their browser's.
LANGUAGE_COOKIE: Final = "tidings_language"


@dataclass(frozen=True, slots=True)
class ConsoleStrings:
    """One language: texts by their keys in `translations/`; those of an area begin with its name and a dot."""

    language: str
    direction: str
    #: As the language calls itself.
    own_name: str
    texts: Mapping[str, str] = field(repr=False)

    def __getitem__(self, key: str) -> str:
        return self.texts[key]

    def get(self, key: str, otherwise: str) -> str:
        """A text that may not be there, such as the label of a value that another release added."""
        return self.texts.get(key, otherwise)

    def error(self, code: str) -> str:
        """What a refusal says to people."""
        return self.texts.get(f"error.{code}") or self.texts["error.other"]

    def role(self, role: str) -> str:
        """What people call a role."""
        return self.texts[f"role.{role}"]

    def channel(self, channel: str) -> str:
        """What people call a channel."""
        return self.texts.get(f"channel.{channel}", channel)

    def status(self, status: str) -> str:
        """What people call an operator's status."""
        return self.texts[f"status.{status}"]


@cache
def languages() -> Mapping[str, ConsoleStrings]:
    """The languages of the console, by the language's code; read once, at first use."""
    merged: dict[str, tuple[str, dict[str, str]]] = {}
    for package in _packages():
        for code, found in read_catalogues(package).items():
            merged.setdefault(code, (found.language, {}))[1].update(found.texts)
    english = merged[SOURCE_LANGUAGE][1]
    return {
        code: _strings(Catalogue(language, {**english, **texts}))
        for code, (language, texts) in merged.items()
    }


def strings_accepted(header: str | None, chosen: str | None = None) -> ConsoleStrings:
    """What somebody has chosen, or what their browser asks for first and we speak, or English."""
    if chosen is not None and chosen in languages():
        return languages()[chosen]
    for part in (header or "")[:_LONGEST_HEADER].split(","):
        code = part.partition(";")[0].strip().lower().replace("_", "-").partition("-")[0]
        if code in languages():
            return languages()[code]
    return languages()[SOURCE_LANGUAGE]


def _packages() -> Iterator[str]:
    """The console's own catalogue, and those of its areas."""
    here = __package__
    yield here
    for folder in sorted(files(here).iterdir(), key=lambda one: one.name):
        if folder.name != "translations" and folder.joinpath("translations").is_dir():
            yield f"{here}.{folder.name}"


def _strings(catalogue: Catalogue) -> ConsoleStrings:
    from babel import Locale  # takes 30 ms to import

    locale = Locale.parse(catalogue.language, sep="-")
    own_name = locale.get_display_name() or catalogue.language
    return ConsoleStrings(catalogue.language, locale.text_direction, own_name, catalogue.texts)
