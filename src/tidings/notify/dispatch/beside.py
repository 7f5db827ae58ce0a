"""Something that takes its time, done beside a transaction that does not wait for it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Begun before the block and over after it, however the block ends."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        await asyncio.wait({task})
