"""Tables from CLDR for one locale, in the form that the helpers in V8 read.

V8 brings an Intl of its own, and it does not know Pashto; so there is one source for all locales, the
same that formats elsewhere in Tidings. The library is loaded when a table is first asked for.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tidings.notify.render.plurals import category_expression

if TYPE_CHECKING:
    from babel import Locale
    from babel.numbers import NumberPattern

FALLBACK: Final = "en"

#: Where the digits of a numbering system begin; CLDR uses no others as a locale's own.
_ZEROS: Final = {
    "adlm": 0x1E950,
    "arab": 0x0660,
    "arabext": 0x06F0,
    "beng": 0x09E6,
    "cakm": 0x11136,
    "deva": 0x0966,
    "hmnp": 0x1E140,
    "mtei": 0xABF0,
    "mymr": 0x1040,
    "nkoo": 0x07C0,
    "olck": 0x1C50,
    "tibt": 0x0F20,
}
#: CLDR's minimumGroupingDigits, which the library does not read: how many digits have to stand before the first separator.
#: `1234` is not grouped in these; a locale with another parent in CLDR follows that one.
_GROUPED_FROM: Final = {
    **dict.fromkeys(("be", "bg", "es", "et", "hu", "hy", "ia", "ie", "it", "ka", "lv", "pl", "sl", "sq"), 2),
    "es_419": 1,
    "pt_AO": 1,
    "pt_PT": 2,
    "ru_UA": 2,
}
#: Keeps `US$` from being shown as `$US` between words that run from right to left.
_LEFT_TO_RIGHT: Final = "\u200e"
_STYLES: Final = ("short", "medium", "long", "full")
_TIME_STYLES: Final = ("short", "medium")


def formatting_locale(recipient: str, written_in: str) -> str:
    """The locale to format by: the recipient's own, unless the text is in another language."""
    return recipient if language_of(recipient) == language_of(written_in) else written_in


def language_of(tag: str) -> str:
    """The language of a tag: `fa` of `fa-AF`."""
    return tag.split("-", 1)[0].lower()


@cache
def known_locale(tag: str) -> "Locale":
    """The locale of a language tag, or the nearest that CLDR knows."""
    from babel import Locale, UnknownLocaleError

    parts = tag.split("-")
    while parts:
        try:
            return Locale.parse("_".join(parts))
        except (UnknownLocaleError, ValueError):
            parts.pop()
    return Locale.parse(FALLBACK)


def direction_of(tag: str) -> str:
    """`rtl` for languages written from right to left."""
    return known_locale(tag).text_direction


def digits_of(locale: "Locale") -> str | None:
    """The ten digits of a locale; None for the usual ones."""
    zero = _ZEROS.get(locale.default_numbering_system)
    return None if zero is None else "".join(chr(zero + n) for n in range(10))


def currency_precisions() -> dict[str, int]:
    """How many decimals the currencies have that don't have two."""
    from babel.core import get_global
    from babel.numbers import get_currency_precision

    found = {
        code: get_currency_precision(code) for code in get_global("currency_fractions") if code != "DEFAULT"
    }
    return {code: places for code, places in found.items() if places != 2}


def locale_table(tag: str) -> dict[str, Any]:
    """Everything that formatting needs, ready to be sent as JSON."""
    locale = known_locale(tag)
    digits = digits_of(locale)
    symbols = _symbols(locale)
    lists = locale.list_patterns["standard"]
    return {
        "digits": None if digits is None else list(digits),
        "decimal": symbols["decimal"],
        "group": symbols["group"],
        "money_decimal": symbols.get("currencyDecimal", symbols["decimal"]),
        "money_group": symbols.get("currencyGroup", symbols["group"]),
        "grouped_from": grouped_from(locale),
        "minus": symbols["minusSign"],
        "percent": symbols["percentSign"],
        "decimals": _pattern(locale.decimal_formats[None]),
        "percents": _pattern(locale.percent_formats[None]),
        "money": _pattern(locale.currency_formats["standard"]),
        "symbols": _currencies(locale),
        "names": _names(locale),
        "dates": {style: _tokens(locale.date_formats[style].pattern) for style in _STYLES},
        "times": {style: _tokens(locale.time_formats[style].pattern) for style in _TIME_STYLES},
        "category": category_expression(locale),
        "lists": {
            "two": lists["2"],
            "start": lists["start"],
            "middle": lists["middle"],
            "end": lists["end"],
        },
    }


def grouped_from(locale: "Locale") -> int:
    """How many digits have to stand before the first separator."""
    from babel.core import get_global

    tag, parents = str(locale), get_global("parent_exceptions")
    while tag and tag != "root":
        if tag in _GROUPED_FROM:
            return _GROUPED_FROM[tag]
        tag = parents.get(tag, tag.rpartition("_")[0])
    return 1


def _currencies(locale: "Locale") -> dict[str, str]:
    found = dict(locale.currency_symbols.items())
    if locale.text_direction != "rtl":
        return found
    return {
        code: symbol
        if symbol[-1:].isalpha() or not any(c.isascii() and c.isalpha() for c in symbol)
        else symbol + _LEFT_TO_RIGHT
        for code, symbol in found.items()
    }


def _symbols(locale: "Locale") -> dict[str, str]:
    usual = dict(locale.number_symbols["latn"].items())
    return usual | dict(locale.number_symbols.get(locale.default_numbering_system, {}).items())


def _pattern(pattern: "NumberPattern") -> dict[str, Any]:
    return {
        "positive": [pattern.prefix[0], pattern.suffix[0]],
        "negative": [pattern.prefix[1], pattern.suffix[1]],
        "groups": list(pattern.grouping),
        "fraction": list(pattern.frac_prec),
    }


def _names(locale: "Locale") -> dict[str, Any]:
    months, days = locale.months, locale.days
    return {
        "months": _months(months["format"]),
        "lone_months": _months(months["stand-alone"]),
        "days": _days(days["format"]),
        "lone_days": _days(days["stand-alone"]),
        "halves": [_half(locale, "am"), _half(locale, "pm")],
        "era": locale.eras["abbreviated"][1],
    }


def _months(names: Any) -> dict[str, list[str]]:
    return {
        ours: [names[theirs][n] for n in range(1, 13)]
        for ours, theirs in (("short", "abbreviated"), ("wide", "wide"))
    }


def _days(names: Any) -> dict[str, list[str]]:
    # The library counts from Monday, JavaScript from Sunday.
    return {
        ours: [names[theirs][n] for n in (6, 0, 1, 2, 3, 4, 5)]
        for ours, theirs in (("short", "abbreviated"), ("wide", "wide"))
    }


def _half(locale: "Locale", half: str) -> str:
    for width in ("abbreviated", "wide"):
        names = locale.day_periods["format"].get(width, {})
        if half in names:
            return str(names[half])
    return half.upper()


def _tokens(pattern: str) -> list[list[Any]]:
    """`d MMM` as `[["d", 1], ["", " "], ["M", 3]]`."""
    from babel.dates import tokenize_pattern

    found: list[list[Any]] = []
    for _, value in tokenize_pattern(pattern):
        if isinstance(value, str):
            found.append(["", value])
        else:
            letter, width = value
            # Periods such as "in the morning" are told as before and after noon.
            found.append(["a" if letter in "bB" else letter, width])
    return found
