"""Whether an operator may see a property: asked below the controller, of whoever reads or changes what belongs to one."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Final, NewType

from msgspec import Meta

from tidings.backoffice.properties.errors import PropertyNotFoundError
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import TenantId
from tidings.kernel.request_notes import note_property

#: A property's id, as the systems call it that know properties.
PropertyId = NewType("PropertyId", str)

#: In a list of rights: every property of the tenant, those of tomorrow too.
ALL_PROPERTIES: Final = "*"
MOST_PROPERTIES: Final = 200
_ID: Final = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}"
#: An item of a list of rights, in a request.
PropertyRight = Annotated[
    str,
    Meta(
        pattern=rf"^(\*|{_ID})\Z",
        description="must be a property's id, or * for every property",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyAccess:
    """A property that somebody may work with; `check_property` alone makes these, so that nobody forgets to ask."""

    tenant_id: TenantId
    property_id: PropertyId


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyReach:
    """All the properties that somebody may see, for what is listed across them."""

    #: Every property of the tenant.
    is_every: bool
    properties: tuple[str, ...] = ()

    @classmethod
    def of(cls, caller: Caller) -> "PropertyReach":
        """What the caller may see."""
        held = in_order(caller.properties)
        return cls(is_every=held == (ALL_PROPERTIES,), properties=held)

    def holds(self, property_id: str | None) -> bool:
        """Whether something of this property, or of none, may be seen."""
        return property_id is None or self.is_every or property_id in self.properties


def check_property(caller: Caller, property_id: str) -> PropertyAccess:
    """The property, where the caller has a right to it; a `PropertyNotFoundError` otherwise, whether or not there is one."""
    if re.fullmatch(_ID, property_id) is not None:
        note_property(property_id)
    if caller.tenant_id is None or not holds_property(caller.properties, property_id):
        raise PropertyNotFoundError
    return PropertyAccess(tenant_id=caller.tenant_id, property_id=PropertyId(property_id))


def holds_property(rights: Iterable[str], property_id: str) -> bool:
    """Whether these rights reach a property."""
    return re.fullmatch(_ID, property_id) is not None and not {ALL_PROPERTIES, property_id}.isdisjoint(rights)


def lacking(rights: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """What is wanted, and not held."""
    held = frozenset(rights)
    return [] if ALL_PROPERTIES in held else sorted(frozenset(wanted) - held)


def in_order(properties: Iterable[str]) -> tuple[str, ...]:
    """A list of rights in the form that is kept: sorted, and `*` alone where it is among them."""
    wanted = frozenset(properties)
    return (ALL_PROPERTIES,) if ALL_PROPERTIES in wanted else tuple(sorted(wanted))


def parse_property_id(text: str) -> PropertyId:
    """A property's id in a path."""
    if re.fullmatch(_ID, text) is None:
        raise BadValueError(
            "property_id", "must be a property's id: letters, digits and _ . : - , 64 at most"
        )
    return PropertyId(text)
