"""Where the console is found, for links that are shown."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConsoleUrl:
    """The address that links begin with: `https://tidings.example`."""

    base: str
