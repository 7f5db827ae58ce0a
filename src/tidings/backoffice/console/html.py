"""Builds HTML in which every text is escaped: only what this module made goes in as it is."""

from collections.abc import Iterable
from html import escape
from typing import Final, TypeAlias, Union

#: Elements without an end.
_VOID: Final = frozenset({"br", "col", "hr", "img", "input", "link", "meta"})
#: Those of SVG close themselves: without it, what follows would be inside them, and not be drawn.
_SHAPES: Final = frozenset({"circle", "line", "path", "polyline", "rect"})


class Html(str):
    """HTML that is whole and safe."""

    __slots__ = ()


Child: TypeAlias = Union[str, int, "Iterable[Child]", None]
Attribute: TypeAlias = str | int | bool | None

NOTHING: Final = Html("")


def el(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """An element. `class_` is class, `aria_label` aria-label; None and False leave an attribute out, True writes its name alone."""
    given = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{given}>")
    if name in _SHAPES:
        return Html(f"<{name}{given}/>")
    return Html(f"<{name}{given}>{_text(children)}</{name}>")


def join(*children: Child, between: str = "") -> Html:
    """Children one after the other."""
    return Html(between.join(_each(children)))


def filled(text: str, **values: Child) -> Html:
    """A text of ours with values in the place of `{name}`; each keeps its own direction."""
    shown = escape(text)
    for key, value in values.items():
        shown = shown.replace(f"{{{key}}}", el("bdi", value))
    return Html(shown)


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def _text(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return escape(child)
    if isinstance(child, int):
        return str(child)
    return "".join(_each(child))


def _each(children: Iterable[Child]) -> Iterable[str]:
    return (text for text in map(_text, children) if text)
