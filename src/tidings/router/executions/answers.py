"""What vendors answered, word for word: one object in the blob store for each set, each answer under its person's key.

A row names its answer as `<key of the object>#<place in it>`. Erasing a person makes their answers unreadable at once; the
objects are removed after some weeks. An answer that could not be stored is missed only by a person who wants to read it: what
became of a message never waits for it.
"""

import asyncio
from collections.abc import Callable, Sequence
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


class AnswerObject:
    """The answers of one set of calls, whatever their accounts: each has its place in one object, which is stored when all are there."""

    def __init__(self) -> None:
        self._key: BlobKey | None = None
        self._owner_id = ""
        self._boxes: list[bytes] = []

    def add(self, sent: Sequence[tuple[str, DataKey | None, Outcome]]) -> dict[str, str]:
        """Take in what these attempts were told, each with its recipient's key; by attempt, where its answer will be."""
        refs: dict[str, str] = {}
        for attempt_id, key, outcome in sent:
            answer = outcome.answer
            if answer is None or not answer.content or key is None or key.destroyed:
                continue
            if self._key is None:
                self._key, self._owner_id = answer_key(attempt_id), attempt_id
            refs[attempt_id] = f"{self._key}#{len(self._boxes)}"
            self._boxes.append(key.seal(answer.content[:MOST_ANSWER_BYTES], _purpose(attempt_id)))
        return refs

    async def store(self, blobs: BlobStore) -> bool:
        """Store it, if there is any answer; False where that fails, and never an error."""
        if self._key is None:
            return True
        try:
            async with asyncio.timeout(_SECONDS):
                await blobs.put(self._key, msgspec.msgpack.encode(self._boxes), owner_id=self._owner_id)
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
