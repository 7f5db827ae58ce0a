"""Tokens with which a person reads their in-app inbox: made by the tenant, short-lived, sealed, and stored nowhere.

A token holds whose inbox it opens, for live or for tests, when it was made and when it ends; all of it is sealed under a key of
the platform, so that nobody makes or changes one who has not the key file. What it opens is checked again where the inbox is:
the tenant may void all tokens of a recipient.
"""

import base64
import binascii
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import msgspec

from tidings.contracts.ids import RECIPIENT, RecipientId
from tidings.contracts.moments import Moment
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.http.callers import OWN_INBOX, Caller
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import UnauthenticatedError

PREFIX: Final = "tdi_"
#: The platform key that seals them.
PURPOSE: Final = "inbox_tokens"
_UNKNOWN: Final = "this inbox token is not known; ask the application for a new one"
_EXPIRED: Final = "this inbox token has expired; ask the application for a new one"
_FORM: Final = re.compile(r"tdi_[A-Za-z0-9_-]{60,600}")


class _Sealed(msgspec.Struct, frozen=True, array_like=True):
    tenant_id: str
    recipient_id: str
    is_test: bool
    issued_at: Moment
    expires_at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxToken:
    """A token as its holder has it."""

    text: str = field(repr=False)
    expires_at: datetime


class InboxTokens:
    """Makes tokens, and knows who carries one."""

    def __init__(self, db: Database, keyring: Keyring, *, clock: Clock) -> None:
        self._db = db
        self._keyring = keyring
        self._clock = clock
        self._key: DataKey | None = None

    async def make(
        self, tenant_id: TenantId, recipient_id: RecipientId, *, is_test: bool, until: datetime
    ) -> InboxToken:
        """A token for one person's inbox."""
        said = _Sealed(tenant_id, recipient_id, is_test, self._clock.now(), until)
        box = (await self._sealing()).seal(msgspec.msgpack.encode(said), PURPOSE)
        text = PREFIX + base64.urlsafe_b64encode(box).rstrip(b"=").decode()
        return InboxToken(text=text, expires_at=until)

    async def authenticate(self, credential: str) -> Caller:
        """The person with this token."""
        said = await self._read(credential)
        if said is None:
            raise UnauthenticatedError(_UNKNOWN)
        if said.expires_at <= self._clock.now():
            raise UnauthenticatedError(_EXPIRED)
        return Caller(
            kind="person",
            id=RECIPIENT.parse(said.recipient_id),
            home=TENANT.parse(said.tenant_id),
            # What it may write is its own inbox, by its scope.
            role="tenant.support",
            scopes=frozenset({OWN_INBOX}),
            environment="test" if said.is_test else "live",
            since=said.issued_at,
            until=said.expires_at,
        )

    async def _read(self, credential: str) -> _Sealed | None:
        if not _FORM.fullmatch(credential):
            return None
        raw = credential.removeprefix(PREFIX)
        try:
            box = base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4))
            return msgspec.msgpack.decode((await self._sealing()).unseal(box, PURPOSE), type=_Sealed)
        except (binascii.Error, ValueError, UnreadableError, DestroyedKeyError, msgspec.MsgspecError):
            return None

    async def _sealing(self) -> DataKey:
        if self._key is None:
            async with self._db.platform() as tx:
                self._key = await self._keyring.platform_key(tx, PURPOSE)
        return self._key
