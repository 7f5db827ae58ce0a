"""Every vendor, played: one file each, named as its adapter."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

from tests.conformance.adapters.player import Player
from tidings.router.adapters.registry import ADAPTERS

#: By the adapter's name.
PLAYERS: Mapping[str, Player] = {
    name: import_module(f"{__name__}.{name}").PLAYER
    for name in sorted(ADAPTERS)
    if find_spec(f"{__name__}.{name}")
}
