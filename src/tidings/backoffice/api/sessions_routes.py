"""Operations on sessions and attestations: who am I, who is signed in, end it."""

from typing import Final

from tidings.backoffice.api.wire import (
    AttestationView,
    ForcedOut,
    ForceLogoutOrder,
    ListSessions,
    MakeAttestation,
    OwnSession,
    SessionView,
)
from tidings.backoffice.attestations.attest import HEADER, Attestor, seat_of
from tidings.backoffice.desk import OperatorDesk
from tidings.backoffice.ids import OPERATOR, OperatorId, SessionId
from tidings.backoffice.operators.errors import OperatorsOnlyError
from tidings.backoffice.sessions import store
from tidings.backoffice.sessions.authenticate import SessionAuthenticator
from tidings.backoffice.sessions.cookies import SessionCookies
from tidings.backoffice.sessions.end import SessionEnder
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import ANY_CALLER, Caller
from tidings.kernel.http.injection import AfterCommit, OpenTx, OwnerTx
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.refusals import MissingScopeError, NotAllowedError

sessions = Resource("sessions", at="", tag="sessions", owner=Owner.OPERATOR)

_ALL: Final = "all"
_NO_STORE: Final = {"Cache-Control": "no-store"}
_ATTESTED: Final = ["attestation_required", "operators_only"]


@sessions.get("/session", scope=ANY_CALLER, problems=["operators_only"])
async def show_own_session(caller: Caller, desk: OperatorDesk, cookies: SessionCookies) -> Answer[OwnSession]:
    """Show who is signed in, what they may, and the token for requests that change something."""
    seat = seat_of(caller)
    me = await desk.whoami(caller)
    shown = OwnSession(
        operator_id=caller.id,
        name=me.name,
        role=caller.role,
        tenant_id=caller.home,
        tenant_name=me.tenant_name,
        scopes=sorted(caller.scopes),
        properties=sorted(caller.properties),
        session_id=seat.session_id,
        device_id=seat.device_id,
        expires_at=caller.until,
        csrf_token=await cookies.csrf_token(seat.session_id),
    )
    return Answer(shown, headers=_NO_STORE)


@sessions.get("/sessions", scope=ANY_CALLER, problems=["operators_only"])
async def list_sessions(
    query: ListSessions, caller: Caller, paging: Paging, open_tx: OpenTx[OwnerTx], db: Database, clock: Clock
) -> Page[SessionView]:
    """List sessions that are open, the newest first: your own, or others'."""
    seat = seat_of(caller)
    operator_id: OperatorId | None = seat.operator_id
    if query.operator_id == _ALL:
        operator_id = None
    elif query.operator_id is not None:
        operator_id = OPERATOR.parse(query.operator_id, field="operator_id")
    is_own = operator_id == seat.operator_id
    if not is_own and "operators:read" not in caller.scopes:
        raise MissingScopeError("operators:read")
    # One's own are where one is at home, whichever tenant one acts for.
    async with db.scoped(caller.home) if is_own else open_tx() as tx:
        found = await store.list_sessions(
            tx, operator_id=operator_id, after_id=paging.after_id, limit=paging.fetch, now=clock.now()
        )
    return paging.page(found, lambda session: SessionView.of(session, seat.session_id))


# Whoever may have lost a session must end it even while the tenant is frozen: it is no write.
@sessions.post(
    "/sessions/{session_id}/revoke",
    scope=ANY_CALLER,
    writes=False,
    headers=[HEADER],
    problems=["session_not_found", *_ATTESTED],
)
async def revoke_session(
    request: Request,
    session_id: SessionId,
    caller: Caller,
    open_tx: OpenTx[OwnerTx],
    desk: OperatorDesk,
) -> None:
    """End a session, everywhere within a second. Another operator's needs `operators:write` and an attestation."""
    if await desk.end_own(caller, session_id):
        return
    await desk.end_others(caller, session_id, open_tx, attestation=request.header(HEADER))


@sessions.post(
    "/force-logout", scope=ANY_CALLER, writes=False, headers=[HEADER], problems=["missing_scope", *_ATTESTED]
)
async def force_logout(
    request: Request,
    body: ForceLogoutOrder,
    caller: Caller,
    open_tx: OpenTx[OwnerTx],
    attestor: Attestor,
    ender: SessionEnder,
    authenticator: SessionAuthenticator,
    db: Database,
    after_commit: AfterCommit,
) -> ForcedOut:
    """End all sessions of an operator, a device, the tenant, or of everybody, everywhere within a second.

    One's own other sessions need no attestation; the session that asks for them stays. All else needs `operators:write`
    and one.
    """
    seat = seat_of(caller)
    if (body.target is not None) is not (body.scope in ("operator", "device")):
        raise BadValueError("target", "is the operator's or the device's id, with these scopes alone")
    after_commit(authenticator.forget_all)
    if body.scope == "operator" and body.target == caller.id:
        async with db.scoped(caller.home) as tx:
            own = await ender.force_out(
                tx, "operator", caller.id, actor=caller.actor, except_id=SessionId(seat.session_id)
            )
        return ForcedOut(sessions=len(own))
    if "operators:write" not in caller.scopes:
        raise MissingScopeError("operators:write")
    if body.scope == "all" and caller.tenant_id is not None:
        raise NotAllowedError("all is the platform's; name the scope tenant, and no X-Tenant-Id with all")
    await attestor.take(caller, "session.force_out", request.header(HEADER))
    if body.scope == "all":
        return ForcedOut(
            sessions=await ender.force_everybody_out(actor=caller.actor, except_id=SessionId(seat.session_id))
        )
    async with open_tx() as tx:
        ended = await ender.force_out(
            tx, body.scope, body.target, actor=caller.actor, except_id=SessionId(seat.session_id)
        )
    return ForcedOut(sessions=len(ended))


@sessions.post(
    "/attestations",
    scope=ANY_CALLER,
    writes=False,
    status=201,
    problems=["code_refused", "second_factor_missing", "operator_locked", "operators_only"],
)
async def make_attestation(
    body: MakeAttestation, caller: Caller, attestor: Attestor
) -> Answer[AttestationView]:
    """Show a second factor for one action, which it is good for once, in this session, for five minutes."""
    if caller.kind != "operator":
        raise OperatorsOnlyError
    made = await attestor.attest(caller, body.action, body.code)
    shown = AttestationView(id=made.id, action=made.action, expires_at=made.expires_at)
    return Answer(shown, headers=_NO_STORE)
