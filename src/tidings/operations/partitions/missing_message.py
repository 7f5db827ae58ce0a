"""What a person reads where partitions are missing: how many, of which tables, and what to do."""

from collections.abc import Sequence
from typing import Final

from tidings.operations.partitions.plan import Partition

REMEDY: Final = "run `tidings partitions` with TIDINGS_OWNER_DATABASE_URL"
#: More names than these help no operator.
_NAMED: Final = 2


def missing_words(missing: Sequence[Partition]) -> str:
    """The whole in one line: `81 partitions are missing (chan.status_maps_y2026m11, …)`."""
    names = ", ".join(one.name for one in missing[:_NAMED]) + (", …" if len(missing) > _NAMED else "")
    many = "1 partition is missing" if len(missing) == 1 else f"{len(missing)} partitions are missing"
    return f"{many} ({names})"
