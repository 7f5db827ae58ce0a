"""What vendors answered, word for word: one object in the blob store for each set, each answer under its person's key.

A row names its answer as `<key of the object>#<place in it>`. Erasing a person makes their answers unreadable at once; the
objects are removed after some weeks. An answer that could not be stored is missed only by a person who wants to read it: what
became of a message never waits for it.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final

import msgspec

from tidings.contracts.messages import Outcome
from tidings.kernel.blobs.days import DaySweeper
from tidings.kernel.blobs.keys import PLATFORM, BlobKey, checked_key
from tidings.kernel.blobs.store import BlobError, BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.logs import get_logger
from tidings.router.blob_keys import answer_key

#: How long answers are kept.
ANSWERS_KEPT: Final = timedelta(days=30)
#: So much of an answer is kept.
MOST_ANSWER_BYTES: Final = 16 * 1024
#: No answer is older.
_FIRST_DAY: Final = date(2026, 1, 1)
_SECONDS: Final = 30.0

_log = get_logger("executions")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedAnswers:
    """The answers of one set, ready to be stored."""

    key: BlobKey
    owner_id: str
    content: bytes = field(repr=False)


def pack(
    sent: Sequence[tuple[str, DataKey | None, Outcome]],
) -> tuple[PackedAnswers | None, dict[str, str]]:
    """The object for these attempts, each with its recipient's key, and by attempt where its answer is; None without any answer."""
    boxes: list[bytes] = []
    places: dict[str, int] = {}
    for attempt_id, key, outcome in sent:
        answer = outcome.answer
        if answer is None or not answer.content or key is None or key.destroyed:
            continue
        places[attempt_id] = len(boxes)
        boxes.append(key.seal(answer.content[:MOST_ANSWER_BYTES], _purpose(attempt_id)))
    if not boxes:
        return None, {}
    owner_id = next(iter(places))
    name = answer_key(owner_id)
    packed = PackedAnswers(key=name, owner_id=owner_id, content=msgspec.msgpack.encode(boxes))
    return packed, {attempt_id: f"{name}#{place}" for attempt_id, place in places.items()}


async def put(blobs: BlobStore, packed: PackedAnswers) -> bool:
    """Store it; False where that fails, and never an error."""
    try:
        async with asyncio.timeout(_SECONDS):
            await blobs.put(packed.key, packed.content, owner_id=packed.owner_id)
    except (BlobError, TimeoutError) as error:
        _log.warning("answers_not_kept", error=type(error).__name__)
        return False
    return True


async def read(blobs: BlobStore, key: DataKey, attempt_id: str, ref: str) -> bytes:
    """The answer that a row names; a `BlobNotFoundError` after its time, a `DestroyedKeyError` after an erasure."""
    name, _, place = ref.rpartition("#")
    if not place.isascii() or not place.isdecimal():
        raise BadValueError("raw_payload_ref", "must name an object and a place in it")
    blob = await blobs.get(checked_key(name))
    boxes = msgspec.msgpack.decode(blob.content, type=list[bytes])
    if int(place) >= len(boxes):
        raise BadValueError("raw_payload_ref", "names a place that its object does not have")
    return key.unseal(boxes[int(place)], _purpose(attempt_id))


class AnswerSweeper:
    """Removes expired answers."""

    def __init__(
        self, blobs: Callable[[], BlobStore], clock: Clock, *, kept: timedelta = ANSWERS_KEPT
    ) -> None:
        self._days = DaySweeper(blobs)
        self._clock = clock
        self._kept = kept

    async def sweep(self, limit: int) -> int:
        """Remove at most so many objects; how many went."""
        last = (self._clock.now() - self._kept).date() - timedelta(days=1)
        return await self._days.sweep(f"{PLATFORM}/answers", first=_FIRST_DAY, last=last, limit=limit)


def _purpose(attempt_id: str) -> str:
    """An answer that was moved to another's place does not open there."""
    return f"answer:{attempt_id}"
