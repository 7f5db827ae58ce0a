"""The list of how often messages of a category come, as HTML: with an hour and a day, which the style shows where they count."""

from functools import cache
from html import escape
from typing import Final

from tidings.contracts.tenants import Day, DigestChoice
from tidings.notify.preference_center.digest_choices import AT, DAY, KEPT, USUAL, WHEN, DigestOffer
from tidings.notify.preference_center.strings import PageStrings
from tidings.notify.render.locales import known_locale

_DAYS: Final[tuple[Day, ...]] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DOT: Final = " · "


def digest_fields(words: PageStrings, category: str, digest: DigestOffer) -> str:
    """How messages of a category come."""
    options = [(USUAL, _DOT.join((words.often[USUAL], told(words, digest.usual))))]
    options += [(form, words.often[form]) for form in digest.forms]
    if digest.chosen == KEPT:
        # Only while it is so: the page has no fields for it.
        options.append((KEPT, _DOT.join((words.often[KEPT], told(words, digest.own)))))
    named = escape(category)
    return (
        '<div class="often">'
        f'<label class="how"><span>{escape(words.digest_how)}</span>'
        f'<select name="{WHEN}{named}">{_options(options, digest.chosen)}</select></label>'
        f'<label class="on"><span>{escape(words.digest_day)}</span>'
        f'<select name="{DAY}{named}">{_options(_week(words.language), digest.day)}</select></label>'
        f'<label class="at"><span>{escape(words.digest_at)}</span>'
        f'<input type="time" name="{AT}{named}" value="{digest.at}" pattern="[0-2][0-9]:[0-5][0-9]"></label>'
        "</div>"
    )


def digest_note(words: PageStrings, zone: str) -> str:
    """What the lists mean, and whose hours they are."""
    before, _, after = words.digest_note.partition("{zone}")
    named = escape(zone.replace("_", " "))
    return f'<p class="note">{escape(before)}<bdi>{named}</bdi>{escape(after)}</p>'


def told(words: PageStrings, choice: DigestChoice | None) -> str:
    """A schedule in words; None: one by one."""
    if choice is None or choice.every == "never":
        return words.often["now"]
    if choice.every in ("minutes", "pause"):
        return words.often["while"]
    if choice.every == "hour":
        return words.often["hour"]
    at = choice.at or "09:00"
    if choice.every == "day":
        return _DOT.join((words.often["day"], at))
    days = choice.days or (choice.day or "mon",)
    names = dict(_week(words.language))
    often = words.often["week" if len(days) == 1 else "days"]
    return _DOT.join((often, *(names[day] for day in _DAYS if day in days), at))


def _options(options: list[tuple[str, str]], chosen: str) -> str:
    return "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for value, text in options
    )


@cache
def _week(language: str) -> list[tuple[str, str]]:
    """The days by their names, from the one that a week begins with there."""
    locale = known_locale(language)
    names, first = locale.days["stand-alone"]["wide"], locale.first_week_day
    return [(_DAYS[i % 7], str(names[i % 7])) for i in range(first, first + 7)]
