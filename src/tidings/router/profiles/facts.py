"""Facts about a person, each with the moment it was learned: the latest word counts, field by field."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, TypeAlias, get_args

FactName = Literal[
    "has_whatsapp_business",
    "voice_otp_supported",
    "email_verified",
    "telegram_chat_id",
    "viber_id",
    "last_successful_channel",
]
FACTS: Final[tuple[FactName, ...]] = get_args(FactName)


def sealing_purpose(name: FactName) -> str:
    """One messenger's id does not open as another's."""
    return f"profile:{name}"


class TriState(StrEnum):
    """Yes, no, or nobody knows."""

    KNOWN_YES = "KNOWN_YES"
    KNOWN_NO = "KNOWN_NO"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class SealedId:
    """A recipient's id with a messenger: found by its hash, opened with their data key."""

    hash: str
    ciphertext: bytes = field(repr=False)


Value: TypeAlias = TriState | bool | str | SealedId


@dataclass(frozen=True, slots=True)
class Fact:
    """What was learned, and when."""

    value: Value
    at: datetime

    def or_later(self, other: "Fact") -> "Fact":
        """The later of the two; of two at the same moment always the same one, whichever came first."""
        return max(self, other, key=_place)


def latest(known: Mapping[FactName, Fact], news: Mapping[FactName, Fact]) -> dict[FactName, Fact]:
    """Both together, the later word each."""
    merged = dict(known)
    for name, fact in news.items():
        before = merged.get(name)
        merged[name] = fact if before is None else before.or_later(fact)
    return merged


def _place(fact: Fact) -> tuple[datetime, str, bytes]:
    match fact.value:
        case SealedId(hash=found, ciphertext=sealed):
            return fact.at, found, sealed
        case other:
            return fact.at, str(other), b""
