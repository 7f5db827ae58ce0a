"""The token in a return path: which attempt a bounce is about, signed. Nothing is stored for it.

    attempt (16 bytes) | account (5 bytes) | signature (9 bytes), in base32: 48 letters and digits

Mail servers may change the case of a local part, so base32 is read in either case. The signature is under a key of the
platform: an invented token is refused without asking the database. A token carries no address.
"""

import base64
import hmac
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from ulid_transform import bytes_to_ulid, ulid_to_bytes

from tidings.kernel.keys.pepper import Pepper
from tidings.router.state_machine.model import ATTEMPT

_ID: Final = 16
_ACCOUNT: Final = 5
_SIGNATURE: Final = 9
#: Behind the base of a plus address (`bounces+token@…`), or alone (`token@…`); some servers write a hyphen for the plus.
_ADDRESS: Final = re.compile(r"(?:[^@\s<>\"]{1,64}[+=-])?([A-Za-z2-7]{48})@[^@\s<>]{1,255}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnToken:
    """What a token says."""

    attempt_id: str
    #: The last eight characters of the account's id.
    account_mark: str


class ReturnTokens:
    """Writes tokens and reads them."""

    def __init__(self, load_pepper: Callable[[], Awaitable[Pepper]]) -> None:
        self._load_pepper = load_pepper
        self._key: bytes | None = None

    async def get_ready(self) -> None:
        """Load the key, at the start: a message that is being written can't wait for it."""
        if self._key is None:
            pepper = await self._load_pepper()
            #: Never used for anything else: no hash of an address can be taken for a signature.
            secret = pepper.hash("\x00return-path").removeprefix("sha256:")
            self._key = bytes.fromhex(secret)

    def write(self, account_id: str, attempt_id: str) -> str:
        """The token of an attempt through an account."""
        said = ulid_to_bytes(attempt_id[-26:]) + ulid_to_bytes(account_id[-26:])[-_ACCOUNT:]
        return base64.b32encode(said + self._signature(said)).decode("ascii").lower()

    def read(self, address: str) -> ReturnToken | None:
        """What the token in an address says; None where there is none that we wrote."""
        found = _ADDRESS.fullmatch(address)
        if found is None:
            return None
        raw = base64.b32decode(found[1].upper())
        said = raw[: _ID + _ACCOUNT]
        if not hmac.compare_digest(raw[_ID + _ACCOUNT :], self._signature(said)):
            return None
        return ReturnToken(
            attempt_id=f"{ATTEMPT.prefix}_{bytes_to_ulid(said[:_ID])}",
            account_mark=bytes_to_ulid(bytes(_ID - _ACCOUNT) + said[_ID:])[-8:],
        )

    def _signature(self, said: bytes) -> bytes:
        if self._key is None:
            raise RuntimeError("the key of return paths was not loaded")
        return hmac.digest(self._key, said, "sha256")[:_SIGNATURE]

    def __repr__(self) -> str:
        return "ReturnTokens(***)"
