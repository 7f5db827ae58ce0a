"""Translated texts in gettext catalogues, which translators' tools (Poedit, Weblate) open as they are.

A package keeps them in a folder: `source.pot` with the English texts, and one `fr.po` for each other language. A text is
known by its `msgctxt`, so that the English words may change without a change of code.
"""

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

SOURCE_LANGUAGE = "en"


class Catalogue(NamedTuple):
    """The texts of one language."""

    #: The language tag that the catalogue names: `fa-AF`.
    language: str
    #: Key → text.
    texts: Mapping[str, str]


def read_catalogues(package: str) -> Mapping[str, Catalogue]:
    """All languages of the folder `translations` in a package: `fa` → its catalogue. A missing text is English."""
    folder = files(package).joinpath("translations")
    source = _read(folder.joinpath("source.pot"))
    languages = sorted(file.name[:-3] for file in folder.iterdir() if file.name.endswith(".po"))
    translated = {language: _read(folder.joinpath(f"{language}.po")) for language in languages}
    return {SOURCE_LANGUAGE: source} | {
        language: Catalogue(found.language, {**source.texts, **found.texts})
        for language, found in translated.items()
    }


def _read(file: Traversable) -> Catalogue:
    from babel.messages.pofile import read_po  # takes 30 ms to import

    with file.open("rb") as opened:
        catalogue = read_po(opened)
    is_source = file.name.endswith(".pot")
    texts = {
        str(message.context): str(message.id if is_source else message.string)
        for message in catalogue
        if message.id and (is_source or (message.string and not message.fuzzy))
    }
    return Catalogue((catalogue.locale_identifier or SOURCE_LANGUAGE).replace("_", "-"), texts)
