"""Pools of connections that accounts share where they lead to the same server under the same login.

Many tenants of a house may have accounts of their own that differ in nothing but the sender. Connections of one serve them all.
"""

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar


class ClosablePool(Protocol):
    """A pool of connections."""

    async def close(self) -> None:
        """End all connections."""
        ...


P = TypeVar("P", bound=ClosablePool)


class SharedPools:
    """The pools of a process, each as long as an account uses it."""

    def __init__(self) -> None:
        self._pools: dict[Hashable, ClosablePool] = {}
        self._users: dict[Hashable, int] = {}

    def borrow(self, key: Hashable, make: Callable[[], P]) -> P:
        """The pool for all that makes a connection what it is; give it back once."""
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools[key] = make()
        self._users[key] = self._users.get(key, 0) + 1
        return pool  # type: ignore[return-value]  # a key begins with the adapter's name, and has one kind of pool

    async def give_back(self, key: Hashable) -> None:
        """An account does not use it any more; the last one closes it."""
        self._users[key] -= 1
        if self._users[key]:
            return
        del self._users[key]
        await self._pools.pop(key).close()
