"""Passwords: what one has to be, and Argon2id, which takes long on purpose and so runs beside the event loop."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from tidings.kernel.refusals import RefusalError

SHORTEST: Final = 12
#: Longer ones cost time and add nothing.
LONGEST: Final = 200
#: Kinds of letters at least: `aaaaaaaaaaaa` is long, and no password.
_FEWEST_LETTERS: Final = 5
#: What has to be left beside a word that everybody tries.
_SHORTEST_REST: Final = 8
#: Of a name or a mail, parts that are shorter say nothing.
_SHORTEST_PART: Final = 4
#: Of those that everybody tries first, the long ones and what long ones are made of.
_COMMON: Final = (
    "password", "passwort", "motdepasse", "123456789", "987654321", "123456", "654321", "qwertyuiop",
    "qwerty", "azerty", "qwertz", "letmein", "iloveyou", "administrator", "admin", "welcome", "changeme", "changeit", "default",
    "secret", "football", "baseball", "sunshine", "princess", "dragon", "monkey", "superman", "trustno1",
    "correcthorsebatterystaple", "tidings",
)  # fmt: skip
_WORDS: Final = re.compile(r"[^\W_]+")
#: As many at once: each takes 64 MiB and a core for some 50 ms.
_AT_ONCE: Final = 2
#: As many wait for their turn, half a second or so; more are told to come again.
MOST_WAITING: Final = 20


def fault_of(password: str, about: Iterable[str]) -> str | None:
    """Why this can't be the password of somebody with that name and mail: `short`, `long`, `common`, `own`; None where it can."""
    if len(password) < SHORTEST:
        return "short"
    if len(password) > LONGEST:
        return "long"
    plain = password.casefold()
    rest = plain
    for word in _COMMON:
        rest = rest.replace(word, "")
    if len(set(plain)) < _FEWEST_LETTERS or (rest != plain and len(rest) < _SHORTEST_REST):
        return "common"
    parts = {
        part for text in about for part in _WORDS.findall(text.casefold()) if len(part) >= _SHORTEST_PART
    }
    return "own" if any(part in plain for part in parts) else None


class PasswordsBusyError(RefusalError):
    """Too many passwords are checked at this moment; try again in some seconds."""

    code = "busy"


class Passwords:
    """Hashes passwords and compares them, a few at a time."""

    def __init__(self, *, hasher: PasswordHasher | None = None) -> None:
        """`hasher`: the parameters of RFC 9106 for little memory, unless others are given."""
        self._hasher = hasher or PasswordHasher()
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._present = 0
        self._nobodys: str | None = None

    async def hash(self, password: str) -> str:
        """What is kept."""
        async with self._turn():
            return await asyncio.to_thread(self._hasher.hash, password)

    async def fits(self, kept: str | None, password: str) -> bool:
        """Whether it is the password; without one that is kept the same work is done, and the answer is no."""
        if kept is None:
            if self._nobodys is None:
                self._nobodys = await self.hash("nobody's password")
            await self._verify(self._nobodys, password)
            return False
        return await self._verify(kept, password)

    async def _verify(self, kept: str, password: str) -> bool:
        async with self._turn():
            try:
                return await asyncio.to_thread(self._hasher.verify, kept, password[: LONGEST + 1])
            except (VerificationError, InvalidHashError):
                return False

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        if self._present >= _AT_ONCE + MOST_WAITING:
            raise PasswordsBusyError
        self._present += 1
        try:
            async with self._turns:
                yield
        finally:
            self._present -= 1
