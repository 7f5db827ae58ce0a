"""Recovery codes: what stands in for an authenticator that was lost, each once. No I/O."""

import re
import secrets
from typing import Final

MOST: Final = 10
#: Without those that are taken for each other; five bits each.
_LETTERS: Final = "23456789abcdefghjkmnpqrstuvwxyz"
_GROUPS, _GROUP_LETTERS = 3, 5
_NOT_OURS: Final = re.compile(r"[^0-9a-z]")


def new_codes() -> tuple[str, ...]:
    """Ten codes of some 74 random bits: `k7m2p-x9wqe-4hjdn`."""
    return tuple(
        "-".join("".join(secrets.choice(_LETTERS) for _ in range(_GROUP_LETTERS)) for _ in range(_GROUPS))
        for _ in range(MOST)
    )


def as_typed(text: str) -> str | None:
    """The code in what somebody typed, in one spelling; None where it can't be one."""
    letters = _NOT_OURS.sub("", text.lower())
    if len(letters) != _GROUPS * _GROUP_LETTERS:
        return None
    return "-".join(
        letters[place : place + _GROUP_LETTERS] for place in range(0, len(letters), _GROUP_LETTERS)
    )
