"""What may stand in a mail: formatting and links stay, whatever runs or fetches goes."""

import re
from typing import Final

import nh3

#: Beyond what the library allows by itself.
_TAGS: Final = nh3.ALLOWED_TAGS | {
    "address", "article", "center", "font", "footer", "header", "main", "section", "small", "u",
}  # fmt: skip
_EVERYWHERE: Final = {
    "align", "bgcolor", "class", "dir", "height", "id", "lang", "role", "style", "title", "valign", "width",
}  # fmt: skip
_ATTRIBUTES: Final = {
    "*": _EVERYWHERE,
    "a": {"href", "name", "target"},
    "font": {"color", "face", "size"},
    "img": {"alt", "border", "src"},
    "ol": {"start", "type"},
    "table": {"background", "border", "cellpadding", "cellspacing", "summary"},
    "td": {"abbr", "background", "colspan", "headers", "nowrap", "rowspan", "vertical-align"},
    "th": {"abbr", "background", "colspan", "headers", "nowrap", "rowspan", "scope", "vertical-align"},
}
SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "sms", "cid"})

#: What a style could do beyond looking: run, fetch, or hide that by escapes.
_UNSAFE_STYLE: Final = re.compile(
    r"expression\s*\(|javascript:|vbscript:|@import|behavior\s*:|-moz-binding|\\|<|/\*", re.IGNORECASE
)
_UNSAFE_URL: Final = re.compile(
    r"url\s*\(\s*+(?:['\"]\s*+|&quot;\s*+|(?!['\"]|&quot;))(?!https?:|cid:|tk[0-9]+n)", re.IGNORECASE
)


def sanitise(body: str) -> str:
    """The inside of a body with only what mails need; comments stay, they are the tools' and ours."""
    return _CLEANER.clean(body)


def safe_style(style: str) -> bool:
    """Whether a style attribute or a style sheet can be kept."""
    return not (_UNSAFE_STYLE.search(style) or _UNSAFE_URL.search(style))


def _keep(_: str, name: str, value: str) -> str | None:
    if name == "style" and not safe_style(value):
        return None
    return value


_CLEANER: Final = nh3.Cleaner(
    tags=_TAGS,
    attributes=_ATTRIBUTES,
    attribute_filter=_keep,
    strip_comments=False,
    link_rel=None,
    generic_attribute_prefixes={"aria-"},
    url_schemes=set(SCHEMES),
)
