"""A batch's progress as a stream (server-sent events): a line whenever its totals have moved, until it has ended."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

import msgspec

from tidings.kernel.db import TenantTx
from tidings.kernel.refusals import RefusalError
from tidings.notify.batches import store
from tidings.notify.batches.wire import BatchView
from tidings.notify.ids import BatchId

#: Seconds between two looks, and until a sign of life where nothing moves.
EVERY: Final = 1.0
_ALIVE: Final = 15.0
#: Seconds that a stream lasts at most; a reader that wants more connects again.
_LONGEST: Final = 3600.0
_encode = msgspec.json.Encoder().encode

OpenTenantTx = Callable[[], AbstractAsyncContextManager[TenantTx]]


async def progress_lines(
    open_tx: OpenTenantTx,
    batch_id: BatchId,
    still_allowed: Callable[[], Awaitable[object]],
    *,
    every: float = EVERY,
) -> AsyncIterator[bytes]:
    """Events named `progress`, each with the batch as it stands; the last one is named `end`, or `error` for who may not hear more."""
    before: bytes = b""
    loop = asyncio.get_running_loop()
    began = told = loop.time()
    while loop.time() < began + _LONGEST:
        try:
            await still_allowed()
        except RefusalError as error:
            yield b"event: error\ndata: %s\n\n" % error.code.encode()
            return
        view = await show(open_tx, batch_id)
        now = _encode(view)
        ended = view.completed_at is not None
        if now != before or ended:
            before, told = now, loop.time()
            yield b"event: %s\ndata: %s\n\n" % (b"end" if ended else b"progress", now)
        elif loop.time() > told + _ALIVE:
            told = loop.time()
            yield b": still here\n\n"
        if ended:
            return
        await asyncio.sleep(every)


async def show(open_tx: OpenTenantTx, batch_id: BatchId) -> BatchView:
    """The batch as it stands."""
    async with open_tx() as tx:
        batch = await store.find_batch(tx, batch_id)
        return BatchView.of(batch, store.all_together((await store.sum_counts(tx, [batch_id]))[batch_id]))
