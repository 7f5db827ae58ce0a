"""Sessions that are bound to a key of their device: every request brings a proof of its own, and none works twice."""

import hmac
from dataclasses import dataclass
from typing import Final

from tidings.backoffice.credentials.device_proofs import (
    WINDOW,
    BadKeyError,
    BadProofError,
    ProofClaims,
    PublicKey,
    check_key,
    read_proof,
)
from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.ids import DeviceId, SessionId
from tidings.backoffice.sessions import store
from tidings.backoffice.sessions.errors import (
    DeviceKeyRegisteredError,
    DeviceProofLateError,
    DeviceProofMissingError,
)
from tidings.backoffice.sessions.model import DeviceKey, OperatorSession
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.asgi import Scope, SeenScope, header
from tidings.kernel.http.callers import Caller

HEADER: Final = "Device-Proof"
_HEADER: Final = HEADER.lower().encode()
#: Where a request is noted whose proof was right: it is asked for once, however often its caller is.
_PROVEN: Final = "tidings.device_proof"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DeviceProofs:
    """Registers keys, and checks the proofs of requests."""

    db: Database
    pepper: OperatorPepper
    clock: Clock

    async def register(self, caller: Caller, key: PublicKey) -> None:
        """Bind the caller's session to this key, for as long as it lasts."""
        try:
            check_key(key)
        except BadKeyError:
            raise BadValueError("public_key", "must be a point of the curve P-256") from None
        session_id, device_id = SessionId(caller.session_id or ""), DeviceId(caller.device_id or "")
        made = DeviceKey(
            session_id=session_id,
            device_id=device_id,
            public_key=key.text,
            key_hash=await self._hash(session_id, device_id, key.text),
        )
        async with self.db.scoped(caller.home) as tx:
            kept = await store.insert_device_key(
                tx, made, now=self.clock.now(), expires_at=caller.until or self.clock.now()
            )
        if kept != key.text:
            raise DeviceKeyRegisteredError

    async def is_whole(self, key: DeviceKey) -> bool:
        """Whether the application wrote this row."""
        return hmac.compare_digest(
            key.key_hash, await self._hash(key.session_id, key.device_id, key.public_key)
        )

    async def check(self, scope: SeenScope, session: OperatorSession, key: DeviceKey) -> bool:
        """Whether a request brings a proof of its own; a refusal where the browser can bring none, or its clock is wrong."""
        given = header(scope, _HEADER)
        if scope.get(_PROVEN) is not None and scope.get(_PROVEN) == given:
            return True
        if given is None and header(scope, b"sec-fetch-mode") == "navigate":
            # An address that was typed: no page can sign that, and nobody has stolen anything.
            raise DeviceProofMissingError
        claims = self._read(scope, session, key, given)
        if claims is None:
            return False
        if not claims.is_of_now(self.clock.now()):
            raise DeviceProofLateError
        async with self.db.scoped(session.tenant_id) as tx:
            is_first = await store.insert_device_proof(
                tx, session.id, claims.jti, expires_at=self.clock.now() + 2 * WINDOW
            )
        if is_first:
            _note(scope, given)
        return is_first

    def _read(
        self, scope: SeenScope, session: OperatorSession, key: DeviceKey, given: str | None
    ) -> ProofClaims | None:
        try:
            claims = read_proof(given or "", key.public_key)
        except BadProofError:
            return None
        is_of_this = (claims.htm, claims.htu, claims.sid) == (scope["method"], _target(scope), session.id)
        return claims if is_of_this else None

    async def _hash(self, session_id: SessionId, device_id: DeviceId, text: str) -> str:
        return await self.pepper.hash("device_key", session_id, device_id, text)


def _target(scope: SeenScope) -> str:
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope.get("query_string") or b""
    return str(b"%b?%b" % (raw, query) if query else raw, "latin-1")


def _note(scope: SeenScope, given: str | None) -> None:
    noted: Scope = scope  # type: ignore[assignment]  # the request's own, from the server on
    noted[_PROVEN] = given
