"""The channels that there are, for pages that let one be chosen."""

from collections.abc import Sequence
from typing import Final, get_args

from tidings.backoffice.console.strings import ConsoleStrings
from tidings.contracts.tenants import Channel

CHANNELS: Final[Sequence[str]] = get_args(Channel)


def channel_options(words: ConsoleStrings) -> list[tuple[str, str]]:
    """All of them, by their names."""
    return [(channel, words.channel(channel)) for channel in CHANNELS]
