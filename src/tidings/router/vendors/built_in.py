"""Vendors that need no account: the simulated one, and the in-app inbox, which is the system's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tidings.contracts.adapters import Capabilities
from tidings.contracts.inbox import IN_APP
from tidings.router.adapters.kind import AdapterKind
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.vendors.in_app import InAppAdapter
from tidings.router.vendors.simulated import SIMULATED

#: Nothing of what is known of accounts holds for them: no limits, no circuit, no price.
WITHOUT_ACCOUNT: Final = frozenset({SIMULATED, IN_APP})


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltInKind:
    """A kind of vendor that is no adapter of the registry: it has no account."""

    channels: frozenset[str]
    capabilities: Capabilities
    #: Its settings decide nothing: it has none.
    by_settings: frozenset[str] = frozenset()


_IN_APP_KIND: Final = BuiltInKind(channels=InAppAdapter.channels, capabilities=InAppAdapter.capabilities)
#: All that a channel can be sent through, by name.
KINDS: Final[Mapping[str, AdapterKind | BuiltInKind]] = {**ADAPTERS, IN_APP: _IN_APP_KIND}
#: The same, with the channels that each serves.
SERVED: Final[Mapping[str, frozenset[str]]] = {name: kind.channels for name, kind in KINDS.items()}


def find_kind(vendor: str) -> AdapterKind | BuiltInKind | None:
    """What is behind a vendor's name; None where there is nothing."""
    return _IN_APP_KIND if vendor == IN_APP else kind_of(vendor)
