"""Every feature flag there is. A flag that is not declared here can't be read or set.

A flag is for a cut-over: it comes with a change, and goes with the last tenant that was moved.
To add one, add it to `_DECLARED` and to the table in `docs/flags.md`.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One switch."""

    #: Small letters, digits, underscores and dots: `accept.strict_locale`.
    key: str
    #: What is different when it is on, in one sentence.
    description: str
    #: What holds while no operator has set it.
    default: bool


_DECLARED: tuple[Flag, ...] = ()

FLAGS: Final[dict[str, Flag]] = {flag.key: flag for flag in _DECLARED}
