"""Finds the route of a path: a tree of its segments, in which a written word goes before a value."""

from collections.abc import Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class _Node(Generic[T]):
    __slots__ = ("by_method", "template", "value", "words")

    def __init__(self) -> None:
        self.words: dict[str, _Node[T]] = {}
        #: Where a value stands, whatever it is.
        self.value: _Node[T] | None = None
        self.template = ""
        self.by_method: dict[str, T] = {}


class RouteTable(Generic[T]):
    """Routes by path and method; the values in a path have the names that its own route gives them."""

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()
        #: Paths in which no value stands are found at once.
        self._without_values: dict[str, Mapping[str, T]] = {}

    def add(self, method: str, template: str, route: T) -> None:
        """Add a route at `/tenants/{tenant_id}`."""
        node = self._root
        for segment in template.strip("/").split("/"):
            if segment.startswith("{"):
                node.value = node.value or _Node()
                node = node.value
            else:
                node = node.words.setdefault(segment, _Node())
        if method in node.by_method:
            raise TypeError(f"{method} {template} is declared twice")
        node.template = template
        node.by_method[method] = route
        if not names_in(template):
            self._without_values[template] = node.by_method

    def find(self, path: str) -> tuple[Mapping[str, T], list[str]]:
        """The routes at a path by their methods, none where there is none, and the values in the path, in order."""
        if (by_method := self._without_values.get(path)) is not None:
            return by_method, []
        values: list[str] = []
        node = _find(self._root, path.strip("/").split("/"), 0, values)
        return (node.by_method, values) if node is not None else ({}, [])


def names_in(template: str) -> list[str]:
    """The names of the values in a path."""
    return [segment[1:-1] for segment in template.split("/") if segment.startswith("{")]


def _find(node: _Node[T], segments: list[str], at: int, values: list[str]) -> _Node[T] | None:
    if at == len(segments):
        return node if node.by_method else None
    segment = segments[at]
    word = node.words.get(segment)
    if word is not None and (found := _find(word, segments, at + 1, values)) is not None:
        return found
    if node.value is not None and segment:
        values.append(segment)
        if (found := _find(node.value, segments, at + 1, values)) is not None:
            return found
        values.pop()
    return None
