"""Which languages, scripts and regions there are, by CLDR; a tag can be well formed and name none of them."""

from functools import cache
from typing import Final

UNKNOWN_LOCALE: Final = "must name a language that exists, such as en-US, fa-AF or zh-Hant-TW"

#: CLDR's words for "not known": right for a table, wrong for a person's language.
_NOBODYS: Final = frozenset({"und", "root", "Zzzz", "ZZ"})
_SCRIPT: Final = 4
_REGIONS: Final = (2, 3)


@cache
def locale_exists(tag: str) -> bool:
    """Whether language, script and region of a well-formed tag exist; in whatever case, old names of theirs included."""
    language, *rest = tag.split("-")
    if language.lower() not in _languages():
        return False
    for part in rest:
        if len(part) == _SCRIPT and part.isalpha():
            if part.title() not in _scripts():
                return False
        elif len(part) in _REGIONS and part.upper() not in _regions():
            return False
    return True


# The library is loaded when the first locale is asked about.
@cache
def _languages() -> frozenset[str]:
    from babel import Locale
    from babel.core import get_global

    # The names are of the common ones only; the table of scripts knows some thousand more, Hazaragi among them.
    spoken = (tag.partition("_")[0] for tag in get_global("likely_subtags"))
    return frozenset({*Locale("en").languages, *spoken, *get_global("language_aliases")}) - _NOBODYS


@cache
def _scripts() -> frozenset[str]:
    from babel import Locale

    return frozenset(Locale("en").scripts) - _NOBODYS


@cache
def _regions() -> frozenset[str]:
    from babel import Locale
    from babel.core import get_global

    return frozenset({*Locale("en").territories, *get_global("territory_aliases")}) - _NOBODYS
