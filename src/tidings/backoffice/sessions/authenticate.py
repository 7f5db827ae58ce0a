"""Knows operators by the cookies of their browser: the session's, and the one of the device that it is bound to."""

import hmac
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.credentials.tokens import read_device, read_session
from tidings.backoffice.ids import OperatorId, SessionId
from tidings.backoffice.operators import store as operator_store
from tidings.backoffice.operators.ledger import OperatorLedger
from tidings.backoffice.operators.model import OperatorRecord
from tidings.backoffice.sessions import store
from tidings.backoffice.sessions.cookies import SessionCookies
from tidings.backoffice.sessions.devices import hash_device
from tidings.backoffice.sessions.end import SessionEnder
from tidings.backoffice.sessions.errors import OtherDeviceError, SessionEndedError
from tidings.backoffice.sessions.model import Device, DeviceKey, OperatorSession
from tidings.backoffice.sessions.open import hash_token
from tidings.backoffice.sessions.proofs import DeviceProofs
from tidings.contracts.scopes import ROLE_SCOPES
from tidings.kernel.announced_changes import AnnouncedChanges, announced_sets
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.http.asgi import SeenScope, header
from tidings.kernel.http.browsers import SAFE_METHODS
from tidings.kernel.http.callers import Caller
from tidings.kernel.logs import get_logger
from tidings.kernel.request_notes import note_operator
from tidings.kernel.set_cache import SetCache

#: Below a second, so that an end counts within one even when the look-up takes a while.
REMEMBERED_SECONDS: Final = 0.5
CSRF_HEADER: Final = "X-CSRF-Token"

_log = get_logger("backoffice")


class _Known(NamedTuple):
    """A session with whose it is and where."""

    session: OperatorSession
    operator: OperatorRecord
    device: Device
    #: The key that it is bound to besides.
    key: DeviceKey | None


class SessionAuthenticator:
    """Looks sessions up, remembers them until a change is announced, and ends those that turn up on another device."""

    def __init__(
        self,
        db: Database,
        *,
        cookies: SessionCookies,
        pepper: OperatorPepper,
        ledger: OperatorLedger,
        ender: SessionEnder,
        proofs: DeviceProofs,
        clock: Clock,
        changes: AnnouncedChanges | None = None,
    ) -> None:
        self._db = db
        self._cookies = cookies
        self._pepper = pepper
        self._ledger = ledger
        self._ender = ender
        self._proofs = proofs
        self._clock = clock
        self._memory: SetCache[SessionId, _Known | None] = announced_sets(
            self._find,
            changes,
            "bff_backoffice.sessions",
            "bff_backoffice.device_keys",
            clock=clock,
            ttl=timedelta(seconds=REMEMBERED_SECONDS),
        )
        if changes is not None:
            # Rights of operators change seldom: all sessions are looked up anew then.
            changes.on("bff_backoffice.operators", lambda _: self._memory.clear())

    async def caller_of(self, scope: SeenScope) -> Caller | None:
        """Who is signed in; None where no cookie says so. What changes something needs the token in X-CSRF-Token."""
        caller = await self.find(scope)
        if caller is not None and caller.session_id is not None and scope["method"] not in SAFE_METHODS:
            given = header(scope, CSRF_HEADER.lower().encode())
            await self._cookies.check_csrf(scope, caller.session_id, given)
        return caller

    async def find(self, scope: SeenScope) -> Caller | None:
        """The same, for pages, which look for the token in their forms."""
        text = self._cookies.session_in(scope)
        if text is None:
            return None
        read = read_session(text)
        known = await self._memory.of(read[0]) if read is not None else None
        if read is None or known is None:
            raise SessionEndedError
        session, operator, device, key = known
        if not hmac.compare_digest(session.token_hash, await hash_token(self._pepper, session, read[1])):
            raise SessionEndedError
        # What they are refused from here on is theirs, too.
        note_operator(_caller(session, operator))
        if session.state(self._clock.now()) != "active" or operator.status not in ("active", "locked"):
            raise SessionEndedError
        if not await self._is_on(scope, device) or not (
            key is None or await self._proofs.check(scope, session, key)
        ):
            await self._end(session)
            raise OtherDeviceError
        return _caller(session, operator)

    async def is_bound_to_key(self, session_id: str) -> bool:
        """Whether requests of this session need a proof of their device's key."""
        known = await self._memory.of(SessionId(session_id))
        return known is not None and known.key is not None

    def forget(self, session_id: SessionId) -> None:
        """This process just ended it: look it up anew."""
        self._memory.forget(session_id)

    def forget_all(self) -> None:
        """This process ended several, or changed an operator."""
        self._memory.clear()

    async def _is_on(self, scope: SeenScope, device: Device) -> bool:
        read = read_device(self._cookies.device_in(scope))
        return (
            read is not None
            and read[0] == device.id
            and hmac.compare_digest(device.secret_hash, await hash_device(self._pepper, *read))
        )

    async def _end(self, session: OperatorSession) -> None:
        """Whoever has the token and not the device has stolen it, or lost a cookie: neither goes on."""
        _log.warning("session_on_another_device", session_id=session.id, operator_id=session.operator_id)
        async with self._db.scoped(session.tenant_id) as tx:
            await self._ender.end(tx, reason="other_device", actor=session.operator_id, session_id=session.id)
        self.forget(session.id)

    async def _find(self, session_ids: Sequence[SessionId]) -> Mapping[SessionId, _Known | None]:
        """Those that are whole; rows that another program wrote or changed let nobody in."""
        found: dict[SessionId, _Known | None] = dict.fromkeys(session_ids)
        async with self._db.platform() as tx:
            sessions = await store.find_any_sessions(tx, session_ids)
            operators = await operator_store.find_any(tx, [one.operator_id for one in sessions])
            devices = await store.find_devices(tx, [one.device_id for one in sessions])
            keys = await store.find_device_keys(tx, [one.id for one in sessions])
        for session in sessions:
            operator, device = operators.get(session.operator_id), devices.get(session.device_id)
            if operator is None or device is None or operator.tenant_id != session.tenant_id:
                continue
            if not await self._ledger.holds(operator):
                continue
            key = keys.get(session.id)
            if key is not None and not await self._proofs.is_whole(key):
                continue
            found[session.id] = _Known(session, operator, device, key)
        return found


def _caller(session: OperatorSession, operator: OperatorRecord) -> Caller:
    return Caller(
        kind="operator",
        id=OperatorId(operator.id),
        home=operator.tenant_id,
        role=operator.role,
        scopes=ROLE_SCOPES[operator.role],
        environment="live",
        until=session.expires_at,
        session_id=session.id,
        device_id=session.device_id,
        properties=frozenset(operator.properties),
    )
