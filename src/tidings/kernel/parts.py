"""A registry of parts by their types: what is registered is given out, and what is not is made of what is.

A class whose constructor takes only parts is made once, when it is first asked for. So a handler names what it needs
in its signature, and one that needs what is not there stops the start and not a request.
"""

import inspect
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


class MissingPartError(TypeError):
    """Nothing of a type is registered, and it can't be made of what is."""


class Parts:
    """Parts by their types."""

    def __init__(self, *parts: object) -> None:
        """`parts` are registered by their own classes."""
        self._known: dict[Any, object] = {type(part): part for part in parts}
        self._late: dict[Any, Callable[[], object]] = {}

    def add(self, kind: Any, part: object) -> "Parts":
        """Register a part under a type that it fulfils: a protocol, or an alias of a callable."""
        self._known[kind] = part
        return self

    def add_late(self, kind: Any, get: Callable[[], object]) -> "Parts":
        """Register a part that exists only once the system runs; it is asked for at each use."""
        self._late[kind] = get
        return self

    def get(self, kind: type[T]) -> T:
        """The part of this type."""
        return cast("T", self._get(kind, ()))

    def late(self, kind: Any) -> Callable[[], object] | None:
        """How to get a part that exists only once the system runs."""
        return self._late.get(kind)

    def _get(self, kind: Any, asked: tuple[Any, ...]) -> object:
        if kind in self._known:
            return self._known[kind]
        if kind in asked or not inspect.isclass(kind) or inspect.isabstract(kind) or _is_protocol(kind):
            raise MissingPartError(f"no part is a {_name(kind)}{_path(asked)}")
        made = self._make(kind, (*asked, kind))
        self._known[kind] = made
        return made

    def _make(self, kind: Any, asked: tuple[Any, ...]) -> object:
        hints = get_type_hints(kind.__init__)
        given: dict[str, object] = {}
        positional: list[object] = []
        for parameter in list(inspect.signature(kind.__init__).parameters.values())[1:]:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise MissingPartError(f"no part is a {_name(kind)}{_path(asked[:-1])}")
            wanted = _required(hints.get(parameter.name))
            if parameter.default is not parameter.empty and wanted not in self._known:
                continue
            part = self._get(wanted, asked)
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(part)
            else:
                given[parameter.name] = part
        return kind(*positional, **given)


def _required(wanted: Any) -> Any:
    """The type in `T | None`."""
    kinds = [kind for kind in get_args(wanted) if kind is not NoneType]
    return kinds[0] if get_origin(wanted) in (Union, UnionType) and len(kinds) == 1 else wanted


def _is_protocol(kind: Any) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


def _name(kind: Any) -> str:
    return getattr(kind, "__qualname__", repr(kind))


def _path(asked: tuple[Any, ...]) -> str:
    return f", which {' of '.join(_name(kind) for kind in reversed(asked))} needs" if asked else ""
