"""Kills a piece of work at each of its statements in turn, as a process dies: nothing after it is done."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tidings.kernel.db import Database


class KilledError(BaseException):
    """The process is gone; nothing may catch it."""


@contextmanager
def killed_at(db: Database, number: int) -> Iterator[None]:
    """The statement with this number, counted over all connections from 1, is never sent: the work dies there."""
    pool: Any = db._pool
    acquire, seen = pool.acquire, 0
    held: list[Any] = []

    def dying(ask: Any) -> Any:
        async def asked(*arguments: Any, **options: Any) -> Any:
            nonlocal seen
            if not str(arguments[0]).startswith("ROLLBACK"):
                seen += 1
                if seen == number:
                    raise KilledError
            return await ask(*arguments, **options)

        return asked

    names = ("execute", "fetch", "fetchrow", "fetchval")

    async def acquired() -> Any:
        connection = await acquire()
        if connection not in held:
            held.append(connection)
            for name in names:
                setattr(connection, name, dying(getattr(connection, name)))
        return connection

    pool.acquire = acquired
    try:
        yield
    finally:
        del pool.acquire
        for connection in held:
            for name in names:
                delattr(connection, name)
