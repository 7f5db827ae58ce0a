"""What may stand in a mail: formatting and links stay, whatever runs or fetches goes."""

import re
from typing import Final

import nh3

from tidings.notify.templates.compile.css import declarations, unsafe, urls, without_comments

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

#: What `url()` may name; the links themselves are checked where the author's lines are known.
_FETCHED: Final = re.compile(r"https?:|cid:|tk[0-9]+n", re.IGNORECASE)


def sanitise(body: str, *, mjml: bool = False) -> str:
    """The inside of a body with only what mails need; comments stay, they are the tools' and ours.

    MJML folds menus and accordions by boxes that can be ticked; authors can't write any.
    """
    return (_MJML_CLEANER if mjml else _CLEANER).clean(body)


def keeps(element: str, attribute: str | None = None) -> bool:
    """Whether an element may stand in a mail, or an attribute of it."""
    if attribute is None:
        return element in _TAGS
    own = _ATTRIBUTES.get(element, set()) | _EVERYWHERE
    return attribute in own or attribute.startswith("aria-")


def safe_style(style: str) -> bool:
    """Whether a style attribute or a style sheet can be kept as it is."""
    return "/*" not in style and not unsafe(style) and all(_FETCHED.match(url) for _, url in urls(style))


def kept_style(style: str) -> str:
    """What of a style attribute can be kept: comments are dropped, and declarations that are not safe."""
    if safe_style(style):
        return style if style.isprintable() else "; ".join(declarations(style))
    return "; ".join(each for each in declarations(without_comments(style)) if safe_style(each))


def dropped_declarations(style: str) -> list[str]:
    """The declarations that are dropped."""
    return [each for each in declarations(without_comments(style)) if not safe_style(each)]


def _keep(_: str, name: str, value: str) -> str | None:
    if name == "style":
        return kept_style(value) or None
    return value


def _cleaner(tags: set[str], attributes: dict[str, set[str]]) -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=tags,
        attributes=attributes,
        attribute_filter=_keep,
        strip_comments=False,
        link_rel=None,
        generic_attribute_prefixes={"aria-"},
        url_schemes=set(SCHEMES),
    )


_CLEANER: Final = _cleaner(_TAGS, _ATTRIBUTES)
_MJML_CLEANER: Final = _cleaner(
    _TAGS | {"input", "label"}, _ATTRIBUTES | {"input": {"type"}, "label": {"for"}}
)
