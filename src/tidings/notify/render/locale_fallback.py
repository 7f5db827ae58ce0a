"""Locale fallback: which locale of a template is read where the recipient's own is missing; no I/O.

The exact locale, then broader ones down to the language, then another region of the same language (better than another
language), then the version's chain, then the template's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache


def choose_locale(
    wanted: str, there: Mapping[str, object], version_chain: Sequence[str], template_chain: Sequence[str]
) -> str:
    """Exact, then less exact down to the language, then another region of it, then the version's chain, then the template's."""
    known = {tag.lower(): tag for tag in there}
    for tag in _broader(wanted):
        if tag.lower() in known:
            return known[tag.lower()]
    for tag in (*siblings(wanted, there), *fallbacks(wanted, version_chain, template_chain)):
        if tag.lower() in known:
            return known[tag.lower()]
    # A version must have its template's default locale, so this is for versions older than a new default.
    return min(there)


def fallbacks(wanted: str, version_chain: Sequence[str], template_chain: Sequence[str]) -> list[str]:
    """The locales that are tried for one who reads `wanted`, in their order."""
    return list(dict.fromkeys(_candidates(wanted, version_chain, template_chain)))


def _candidates(wanted: str, version_chain: Sequence[str], template_chain: Sequence[str]) -> Iterator[str]:
    yield from _broader(wanted)
    yield from version_chain
    for tag in template_chain:
        yield from _broader(tag)


def _broader(tag: str) -> Iterator[str]:
    """`zh-Hant-TW`, `zh-Hant`, `zh`."""
    parts = tag.split("-")
    while parts:
        yield "-".join(parts)
        parts.pop()


def siblings(wanted: str, there: Iterable[str]) -> list[str]:
    """Those of `there` in the language and script of `wanted`: CLDR's parents first, then the language's usual region."""
    language = wanted.split("-", 1)[0].lower()
    same = sorted(tag for tag in there if tag.split("-", 1)[0].lower() == language)
    if not same:
        return []
    script = _likely(wanted)[1]
    near = [*_parents(wanted), *(tag for tag in same if _likely(tag)[2] == _likely(language)[2])]
    known = {tag.lower(): tag for tag in same if _likely(tag)[1] == script}
    first = [known[tag.lower()] for tag in near if tag.lower() in known]
    return list(dict.fromkeys([*first, *(tag for tag in same if tag.lower() in known)]))


def _parents(tag: str) -> list[str]:
    """`es-419` of `es-MX`."""
    from babel.core import get_global

    exceptions = get_global("parent_exceptions")
    found: list[str] = []
    place = tag.replace("-", "_")
    while (place := exceptions.get(place, "")) not in ("", "root"):
        found.append(place.replace("_", "-"))
    return found


@cache
def _likely(tag: str) -> tuple[str, str, str]:
    """Language, script and region of a tag, as CLDR fills in what it leaves out."""
    from babel.core import get_global, parse_locale

    try:
        language, region, script, *_ = parse_locale(tag, sep="-")
    except ValueError:
        return tag, "", ""
    known = get_global("likely_subtags")
    parts = [part for part in (language, script, region) if part]
    for trial in ("_".join(parts), f"{language}_{region}", f"{language}_{script}", language):
        if trial in known:
            likely = known[trial].split("_")
            if len(likely) == 3:
                return language, script or likely[1], region or likely[2]
    return language, script or "", region or ""
