"""The port of fan-out between processes: what transactions say when they commit, told to every process."""

from collections.abc import Callable
from typing import Protocol


class ChannelAnnouncer(Protocol):
    """Tells this process what is said on a channel; nothing is kept, and what was missed is known to be missing."""

    def hear(self, channel: str, heard: Callable[[str | None], None]) -> None:
        """Call it with what transactions say when they commit, and with None whenever some of it may have been missed."""
        ...

    @property
    def proved(self) -> bool:
        """Whether all of it is heard at present."""
        ...
