"""A registry of parts by their types: what is registered is given out, and what is not is made of what is.

A class whose constructor takes only parts is made once, when it is first asked for. So a handler names what it needs
in its signature, and one that needs what is not there stops the start and not a request.
"""

import inspect
from collections.abc import Callable
from functools import cache
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
        """Register how to get a part: a constructor asks for it when it runs, a handler at each request."""
        self._late[kind] = get
        return self

    def get(self, kind: type[T], **given: object) -> T:
        """The part of this type; at the first call it is made of what is given, by name, and of other parts."""
        if given and kind in self._known:
            raise TypeError(f"{_name(kind)} was made before, without {sorted(given)}")
        return cast("T", self._get(kind, (), given))

    def make(self, kind: type[T], **given: object) -> T:
        """A further object of this type, which is not registered."""
        return cast("T", self._make(kind, (kind,), given))

    def late(self, kind: Any) -> Callable[[], object] | None:
        """How to get a part that was registered with `add_late`."""
        return self._late.get(kind)

    def _get(self, kind: Any, asked: tuple[Any, ...], given: dict[str, object]) -> object:
        if kind in self._known:
            return self._known[kind]
        if kind in self._late:
            return self._late[kind]()
        if kind in asked or not inspect.isclass(kind) or inspect.isabstract(kind) or _is_protocol(kind):
            raise MissingPartError(f"no part is a {_name(kind)}{_path(asked)}")
        made = self._make(kind, (*asked, kind), given)
        self._known[kind] = made
        return made

    def _make(self, kind: Any, asked: tuple[Any, ...], given: dict[str, object]) -> object:
        named = dict(given)
        positional: list[object] = []
        for parameter, wanted in _wants(kind):
            if parameter.name in given:
                continue
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise MissingPartError(f"no part is a {_name(kind)}{_path(asked[:-1])}")
            has_default = parameter.default is not parameter.empty
            if has_default and wanted not in self._known and wanted not in self._late:
                continue
            part = self._get(wanted, asked, {})
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(part)
            else:
                named[parameter.name] = part
        if not named and not positional:
            # What stands on no part is a thing of its own, such as a wake-up: a second one would be no error, but a bug.
            raise MissingPartError(f"no part is a {_name(kind)}{_path(asked[:-1])}")
        return kind(*positional, **named)


@cache
def _wants(kind: Any) -> tuple[tuple[inspect.Parameter, Any], ...]:
    """What a constructor takes, each with the part that it is; read once, as many are made of the same classes."""
    hints = get_type_hints(kind.__init__)
    taken = list(inspect.signature(kind.__init__).parameters.values())[1:]
    return tuple((parameter, _required(hints.get(parameter.name))) for parameter in taken)


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
