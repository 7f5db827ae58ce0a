"""Answers a router in another process that asks for steps."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec
from msgspec import structs

from tidings.contracts.delivery import PreparedStep, ReadyStep, StepPreparer
from tidings.contracts.delivery_requests import EncodedSteps, PrepareSteps

#: A reply holds answers up to so many bytes, and one at least: attachments may be large, and the router asks for the rest again.
_MOST_BYTES: Final = 8 * 1024 * 1024

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(PrepareSteps).decode


@dataclass(frozen=True, slots=True)
class StepRequests:
    """Hands a request to notify's `StepPreparer`. The same request may come twice: the gates know what they have counted."""

    preparer: StepPreparer

    async def answer(self, payload: bytes) -> bytes:
        """The answers to the first of the asks."""
        prepared = await self.preparer.prepare(_decode(payload).asks)
        return _encode(EncodedSteps(steps=tuple(_within_bounds(prepared))))


def _within_bounds(prepared: Sequence[PreparedStep]) -> Iterator[msgspec.Raw]:
    size = 0
    for step in prepared:
        encoded = _encode(_without_key(step))
        size += len(encoded)
        if size > _MOST_BYTES and size > len(encoded):
            return
        yield msgspec.Raw(encoded)


def _without_key(step: PreparedStep) -> PreparedStep:
    """The person's key stays here: the router opens its own copy, by the recipient's id."""
    return (
        structs.replace(step, message=replace(step.message, key=None))
        if isinstance(step, ReadyStep)
        else step
    )
