"""Every dialect that the sandbox speaks, by its name."""

from collections.abc import Mapping
from typing import Final

from tidings.sandbox.dialects.dialect import Dialect

_ALL: tuple[Dialect, ...] = ()

DIALECTS: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in _ALL}
