"""Operations on operators, for admins; what gives or takes rights needs an attestation."""

from typing import Final

from tidings.backoffice.api.wire import ChangeOperator, InvitedOperator, InviteOperator, OperatorView
from tidings.backoffice.attestations.attest import HEADER, seat_of
from tidings.backoffice.desk import OperatorDesk
from tidings.backoffice.ids import OperatorId
from tidings.backoffice.operators import store
from tidings.backoffice.operators.change import By
from tidings.backoffice.operators.errors import UnknownOperatorError
from tidings.backoffice.operators.model import MadeLink, OperatorRecord
from tidings.backoffice.own_url import ConsoleUrl
from tidings.backoffice.sessions.authenticate import SessionAuthenticator
from tidings.backoffice.sessions.errors import AttestationRequiredError
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.http.answers import Answer, Reply
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import AfterCommit, OpenTx, OwnerTx
from tidings.kernel.http.once import Once
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

operators = Resource("operators", at="/operators", tag="operators", scope="operators", owner=Owner.OPERATOR)

_NO_STORE: Final = {"Cache-Control": "no-store"}
_ATTESTED: Final = ["attestation_required", "operators_only", "escalation"]
_OF_ONE: Final = ["operator_not_found", "own_operator", "operator_status", *_ATTESTED]


@operators.get(problems=["operators_only"])
async def list_operators(
    tx: OwnerTx, caller: Caller, paging: Paging, desk: OperatorDesk
) -> Page[OperatorView]:
    """List operators, the newest first."""
    seat_of(caller)
    found = await desk.read(tx, after_id=paging.after_id, limit=paging.fetch)
    return paging.page(found, lambda one: OperatorView.of(*one), id_of=lambda one: one.operator.id)


@operators.get("/{operator_id}", problems=["operator_not_found", "operators_only"])
async def show_operator(
    tx: OwnerTx, caller: Caller, operator_id: OperatorId, desk: OperatorDesk
) -> Answer[OperatorView]:
    """Show an operator."""
    seat_of(caller)
    operator = await store.find_operator(tx, operator_id=operator_id)
    if operator is None:
        raise UnknownOperatorError
    return await _shown(desk, tx, operator)


@operators.post(status=201, headers=[HEADER], problems=["operator_exists", *_ATTESTED])
async def invite_operator(
    request: Request,
    body: InviteOperator,
    caller: Caller,
    open_tx: OpenTx[OwnerTx],
    once: Once,
    desk: OperatorDesk,
    url: ConsoleUrl,
) -> Reply:
    """Invite somebody; the link by which they join is shown this once."""
    by: By | None = None
    try:
        # Before the transaction: a request that waits for a second connection while it holds one can stop them all.
        by = await desk.attested(caller, "operator.invite", request.header(HEADER))
    except AttestationRequiredError as error:
        # A repeated request brings the attestation that the first one has used, and still gets the first one's answer.
        refused = error
    async with open_tx() as tx:

        async def invite() -> Answer[InvitedOperator]:
            if by is None:
                raise refused
            operator, made = await desk.changer.invite(tx, body.person(), body.rights(), by=by)
            is_mailed = body.by_mail and await desk.mail_invitation(
                tx, caller, operator, body.person(), made, language=body.language
            )
            return await _invited(desk, tx, operator, made, url, is_mailed=is_mailed)

        return await once(tx, invite)


@operators.patch("/{operator_id}", headers=[HEADER], problems=_OF_ONE)
async def change_operator(
    request: Request,
    operator_id: OperatorId,
    body: ChangeOperator,
    if_match: IfMatch,
    caller: Caller,
    open_tx: OpenTx[OwnerTx],
    desk: OperatorDesk,
    authenticator: SessionAuthenticator,
    after_commit: AfterCommit,
) -> Answer[OperatorView]:
    """Give an operator another role or other properties; it counts for their sessions within a second."""
    by = await desk.attested(caller, "operator.change", request.header(HEADER))
    after_commit(authenticator.forget_all)
    async with open_tx() as tx:
        operator = await desk.changer.lock(tx, operator_id, by=by)
        if_match.expect(operator.version)
        changed = await desk.changer.change_rights(tx, operator, body.rights(operator), by=by)
        return await _shown(desk, tx, changed)


@operators.post("/{operator_id}/invite", headers=[HEADER], problems=_OF_ONE)
async def invite_operator_again(
    request: Request,
    operator_id: OperatorId,
    caller: Caller,
    open_tx: OpenTx[OwnerTx],
    desk: OperatorDesk,
    url: ConsoleUrl,
) -> Answer[InvitedOperator]:
    """Give somebody who has not joined a new link; the one before works no more."""
    by = await desk.attested(caller, "operator.invite", request.header(HEADER))
    async with open_tx() as tx:
        operator, made = await desk.changer.invite_again(tx, operator_id, by=by)
        return await _invited(desk, tx, operator, made, url)


@operators.post(
    "/{operator_id}/revoke-invitation",
    writes=False,
    scope="operators:write",
    headers=[HEADER],
    problems=_OF_ONE,
)
async def revoke_invitation(
    request: Request, operator_id: OperatorId, caller: Caller, open_tx: OpenTx[OwnerTx], desk: OperatorDesk
) -> Answer[OperatorView]:
    """Take the link of an invitation back."""
    by = await desk.attested(caller, "operator.status", request.header(HEADER))
    async with open_tx() as tx:
        return await _shown(desk, tx, await desk.changer.revoke_invitation(tx, operator_id, by=by))


@operators.post(
    "/{operator_id}/disable", writes=False, scope="operators:write", headers=[HEADER], problems=_OF_ONE
)
async def disable_operator(
    request: Request,
    operator_id: OperatorId,
    caller: Caller,
    open_tx: OpenTx[OwnerTx],
    desk: OperatorDesk,
    authenticator: SessionAuthenticator,
    after_commit: AfterCommit,
) -> Answer[OperatorView]:
    """Let an operator in no more, and end their sessions within a second."""
    by = await desk.attested(caller, "operator.status", request.header(HEADER))
    after_commit(authenticator.forget_all)
    async with open_tx() as tx:
        operator = await desk.shut_out(tx, desk.changer.disable, operator_id, by=by)
        return await _shown(desk, tx, operator)


@operators.post("/{operator_id}/enable", headers=[HEADER], problems=_OF_ONE)
async def enable_operator(
    request: Request, operator_id: OperatorId, caller: Caller, open_tx: OpenTx[OwnerTx], desk: OperatorDesk
) -> Answer[OperatorView]:
    """Let a disabled operator in again."""
    by = await desk.attested(caller, "operator.status", request.header(HEADER))
    async with open_tx() as tx:
        return await _shown(desk, tx, await desk.changer.enable(tx, operator_id, by=by))


@operators.post("/{operator_id}/unlock", headers=[HEADER], problems=_OF_ONE)
async def unlock_operator(
    request: Request, operator_id: OperatorId, caller: Caller, open_tx: OpenTx[OwnerTx], desk: OperatorDesk
) -> Answer[OperatorView]:
    """End a lock before its time."""
    by = await desk.attested(caller, "operator.status", request.header(HEADER))
    async with open_tx() as tx:
        return await _shown(desk, tx, await desk.changer.unlock(tx, operator_id, by=by))


@operators.post("/{operator_id}/reset-mfa", headers=[HEADER], problems=_OF_ONE)
async def reset_operator(
    request: Request,
    operator_id: OperatorId,
    caller: Caller,
    open_tx: OpenTx[OwnerTx],
    desk: OperatorDesk,
    url: ConsoleUrl,
    authenticator: SessionAuthenticator,
    after_commit: AfterCommit,
) -> Answer[InvitedOperator]:
    """Take an operator's password, authenticator and codes away; a link, shown this once, lets them begin anew."""
    by = await desk.attested(caller, "operator.reset_mfa", request.header(HEADER))
    after_commit(authenticator.forget_all)
    async with open_tx() as tx:
        operator, made = await desk.shut_out(tx, desk.changer.reset, operator_id, by=by)
        return await _invited(desk, tx, operator, made, url)


@operators.post(
    "/{operator_id}/erase", writes=False, scope="operators:write", headers=[HEADER], problems=_OF_ONE
)
async def erase_operator(
    request: Request,
    operator_id: OperatorId,
    caller: Caller,
    open_tx: OpenTx[OwnerTx],
    desk: OperatorDesk,
    authenticator: SessionAuthenticator,
    after_commit: AfterCommit,
) -> Answer[OperatorView]:
    """Erase an operator's name, mail and sign-in for good; their id stays in the ledgers."""
    by = await desk.attested(caller, "operator.erase", request.header(HEADER))
    after_commit(authenticator.forget_all)
    async with open_tx() as tx:
        operator = await desk.shut_out(tx, desk.changer.erase, operator_id, by=by)
        return await _shown(desk, tx, operator)


async def _shown(
    desk: OperatorDesk, tx: TenantTx | PlatformTx, operator: OperatorRecord
) -> Answer[OperatorView]:
    return Answer(OperatorView.of(*await desk.seen(tx, operator)), version=operator.version)


async def _invited(
    desk: OperatorDesk,
    tx: TenantTx | PlatformTx,
    operator: OperatorRecord,
    made: MadeLink,
    url: ConsoleUrl,
    *,
    is_mailed: bool = False,
) -> Answer[InvitedOperator]:
    person = (await desk.seen(tx, operator)).person
    shown = InvitedOperator.of(operator, person, made, url.base, is_mailed=is_mailed)
    return Answer(
        shown,
        version=operator.version,
        location=f"/bff/v1/operators/{operator.id}",
        headers=_NO_STORE,
        again=shown.again(),
    )
