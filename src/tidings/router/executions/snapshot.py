"""The ladder as it is frozen at the start, and where it stands, as they are kept in a row."""

from functools import lru_cache
from typing import Final

import msgspec

from tidings.contracts.ladder import LadderSnapshot
from tidings.router.state_machine.model import ActiveStep, ClosedAttempt, ExecutionState

_encode = msgspec.json.Encoder().encode
#: In a text with the reasons of an order, and in no other.
_WHY: Final = '"why":['


class StoredState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What changes in an execution, under the names that it is stored by."""

    active_steps: tuple[ActiveStep, ...] = msgspec.field(default=(), name="legs")
    next: int = 1
    attempts: tuple[ClosedAttempt, ...] = msgspec.field(default=(), name="past")
    again: tuple[int, ...] = ()


_decode_frozen = msgspec.json.Decoder(LadderSnapshot).decode
_decode_path = msgspec.json.Decoder(tuple[ClosedAttempt, ...]).decode
_decode_state = msgspec.json.Decoder(StoredState).decode


def frozen_text(frozen: LadderSnapshot) -> str:
    """As it is kept; equal ones are written once. Where the order was learned no two are equal."""
    return _known_text(frozen) if not frozen.why else _encode(frozen).decode()


def frozen_of(text: str) -> LadderSnapshot:
    """The ladder again."""
    return _known_frozen(text) if _WHY not in text else _decode_frozen(text)


@lru_cache(maxsize=5_000)
def _known_text(frozen: LadderSnapshot) -> str:
    return _encode(frozen).decode()


@lru_cache(maxsize=5_000)
def _known_frozen(text: str) -> LadderSnapshot:
    return _decode_frozen(text)


def state_text(state: ExecutionState) -> str:
    """Where it stands, as it is kept."""
    return _encode(
        StoredState(
            active_steps=state.active_steps, next=state.next, attempts=state.attempts, again=state.again
        )
    ).decode()


def state_of(text: str) -> StoredState:
    """Where it stands."""
    return _decode_state(text)


def path_text(attempts: tuple[ClosedAttempt, ...]) -> str:
    """What has happened, as history keeps it."""
    return _encode(attempts).decode()


def path_of(text: str) -> tuple[ClosedAttempt, ...]:
    """What has happened, as history has it."""
    return _decode_path(text)
