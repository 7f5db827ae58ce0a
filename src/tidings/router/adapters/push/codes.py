"""What a push service's codes mean: for the message, and how that is kept."""

from collections.abc import Mapping
from typing import TypeAlias

from tidings.contracts.callback_forms import Canonical
from tidings.router.adapters.http_client.answers import Verdict
from tidings.router.adapters.kind import StatusSeed

#: What it means for the message, how it is kept, and the reason in a word of ours.
Meaning: TypeAlias = tuple[Verdict, Canonical, str]


def seeds_of(codes: Mapping[str, Meaning]) -> tuple[StatusSeed, ...]:
    """The same for the status map."""
    return tuple(StatusSeed(code=code, canonical=how, reason=why) for code, (_, how, why) in codes.items())


def verdict_by(codes: Mapping[str, Meaning], code: str | None, otherwise: Verdict) -> Verdict:
    """What the code means for the message; `otherwise` where there is none, or nobody knows it."""
    return codes[code][0] if code is not None and code in codes else otherwise
