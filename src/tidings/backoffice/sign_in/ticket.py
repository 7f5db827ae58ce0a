"""What a browser holds between password and code: sealed, for some minutes, and good for nothing but the code."""

import hashlib
import hmac
from datetime import timedelta
from typing import Final, Literal, NamedTuple

import msgspec

from tidings.backoffice.credentials.boxes import BrowserBoxes
from tidings.backoffice.ids import OPERATOR, OperatorId
from tidings.backoffice.operators.model import OperatorRecord
from tidings.contracts.moments import Moment
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.keys.keyring import Keyring

#: The platform key that seals them.
PURPOSE: Final = "sign_in_tickets"
_LASTS: Final = {
    "sign_in": timedelta(minutes=5),
    "join": timedelta(minutes=30),
    "oidc": timedelta(minutes=5),
}


#: Before the code of who signs in, the first code of who joins, or the choice of who came from an identity provider.
TicketUse = Literal["sign_in", "join", "oidc"]


class Choice(NamedTuple):
    """An operator whose password was right."""

    tenant_id: TenantId | None
    operator_id: OperatorId
    #: Which password that was: another one takes the ticket's worth away.
    password_mark: str

    @classmethod
    def of(cls, operator: OperatorRecord) -> "Choice":
        """Somebody whose password was right just now."""
        return cls(operator.tenant_id, operator.id, _mark(operator))

    def fits(self, operator: OperatorRecord) -> bool:
        """Whether it is them, and the password is still that one."""
        return (
            operator.id == self.operator_id
            and operator.password_hash is not None
            and hmac.compare_digest(_mark(operator), self.password_mark)
        )


class _Sealed(msgspec.Struct, frozen=True, array_like=True):
    use: TicketUse
    choices: list[tuple[str | None, str, str]]
    expires_at: Moment


class SignInTickets:
    """Makes and reads them."""

    def __init__(self, db: Database, keyring: Keyring, *, clock: Clock) -> None:
        self._boxes = BrowserBoxes(db, keyring, PURPOSE)
        self._clock = clock

    async def make(self, choices: list[Choice], use: TicketUse = "sign_in") -> str:
        """A ticket for these."""
        said = _Sealed(
            use,
            [(one.tenant_id, one.operator_id, one.password_mark) for one in choices],
            self._clock.now() + _LASTS[use],
        )
        return await self._boxes.seal(msgspec.msgpack.encode(said))

    async def read(self, text: str, use: TicketUse = "sign_in") -> list[Choice]:
        """Who proved themselves so far; nobody where it is no ticket for that, or an old one."""
        content = await self._boxes.open(text)
        if content is None:
            return []
        try:
            said = msgspec.msgpack.decode(content, type=_Sealed)
            if said.use != use or said.expires_at <= self._clock.now():
                return []
            return [
                Choice(None if tenant is None else TENANT.parse(tenant), OPERATOR.parse(operator), mark)
                for tenant, operator, mark in said.choices
            ]
        except (msgspec.MsgspecError, BadValueError):
            return []


def _mark(operator: OperatorRecord) -> str:
    # The hash has a salt of its own for each password that is chosen.
    return hashlib.sha256((operator.password_hash or "").encode()).hexdigest()
