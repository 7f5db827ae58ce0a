"""Which other region's text of the same language is read where there is none for one's own: better than another language."""

from collections.abc import Iterable
from functools import cache


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
