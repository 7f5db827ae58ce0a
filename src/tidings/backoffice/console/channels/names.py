"""What people call a channel, for all pages that name one."""

from collections.abc import Sequence
from typing import Final, get_args

from tidings.backoffice.console.strings import ConsoleStrings
from tidings.contracts.tenants import Channel

CHANNELS: Final[Sequence[str]] = get_args(Channel)


def channel_name(words: ConsoleStrings, channel: str) -> str:
    """Its name in the reader's language; the channel itself where a later release made it."""
    return words.get(f"channels.name.{channel}", channel)


def channel_options(words: ConsoleStrings) -> list[tuple[str, str]]:
    """All channels, for a choice."""
    return [(channel, channel_name(words, channel)) for channel in CHANNELS]
