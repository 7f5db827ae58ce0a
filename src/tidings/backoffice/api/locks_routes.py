"""Operations on locks: keys are issued, revoked, rebound and extended; what was done, refused or never answered is listed."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from tidings.backoffice.attestations.attest import HEADER, seat_of
from tidings.backoffice.ids import OPERATOR
from tidings.backoffice.lock_actions import store
from tidings.backoffice.lock_actions.ledger import LockActionView
from tidings.backoffice.lock_actions.model import AuditedAction, LockOrder, LockOutcome
from tidings.backoffice.lock_actions.perform import LockActor, WantedOnce
from tidings.backoffice.properties.access import PropertyReach, check_property
from tidings.backoffice.upstreams.client import Upstreams, at
from tidings.backoffice.upstreams.contract.locks import Credential, DoorKey, DoorKeys, LockAction
from tidings.contracts.moments import Moment
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer, Reply
from tidings.kernel.http.callers import ANY_CALLER, Caller
from tidings.kernel.http.injection import OwnerTx
from tidings.kernel.http.once import REPLAYED, GivenKey
from tidings.kernel.http.paging import Page, PageQuery, Paging
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.idempotency import HEADER as KEY_HEADER
from tidings.kernel.idempotency import StoredAnswer, hash_request
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import NotFoundError

locks = Resource("locks", at="/locks", tag="locks", scope="locks", owner=Owner.OPERATOR)

_ID: Final = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}\Z"
PropertyText = Annotated[str, Meta(pattern=_ID, description="must be a property's id")]
ReservationText = Annotated[str, Meta(pattern=_ID, description="must be a reservation's id")]
_Room = Annotated[str, Meta(min_length=1, max_length=32)]
_NO_STORE: Final = {"Cache-Control": "no-store"}
_PROBLEMS: Final = [
    "attestation_required",
    "operators_only",
    "property_not_found",
    "missing_scope",
    "upstream_away",
    "upstream_not_connected",
    "idempotency_key_reused",
    "idempotency_in_progress",
]


class IssueKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What key is wanted."""

    property_id: PropertyText
    credential: Credential = "card"
    #: Until then it opens; left out: until the departure.
    valid_until: Moment | None = None


class RevokeKeys(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where they are taken away."""

    property_id: PropertyText


class RebindKeys(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """To which door they are bound from now on."""

    property_id: PropertyText
    room: _Room


class ExtendKeys(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long they open from now on."""

    property_id: PropertyText
    valid_until: Moment


class ListKeys(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where."""

    property_id: PropertyText


class LockKeyView(Struct, frozen=True, kw_only=True):
    """A key to a door."""

    id: str
    room: str
    credential: Credential
    status: str
    valid_until: Moment

    @classmethod
    def of(cls, key: DoorKey) -> "LockKeyView":
        """As the lock service has it."""
        return by_name(cls, key)


class KeysView(Struct, frozen=True, kw_only=True):
    """Keys of a reservation, the newest first."""

    items: list[LockKeyView]


class ListLockActions(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which rows of the audit are wanted."""

    reservation_id: ReservationText | None = None
    #: You need a right to it.
    property_id: PropertyText | None = None
    operator_id: str | None = None
    action: LockAction | None = None
    outcome: LockOutcome | None = None


class LockAuditView(Struct, frozen=True, kw_only=True):
    """A lock action that was asked for."""

    id: str
    occurred_at: Moment
    property_id: str
    operator_id: str
    device_id: str
    reservation_id: str
    action: LockAction
    #: Who makes the lock; null: it was never learned.
    vendor: str | None
    #: `refused`: by us, and never asked for; `failure`: by the lock service; `unknown`: its answer was not learned.
    outcome: LockOutcome
    error_code: str | None
    #: Null: refused, as there was none.
    mfa_attestation_id: str | None
    upstream_request_id: str
    upstream_latency_ms: int
    #: The row of outcome `unknown` whose end this one tells.
    settles_id: str | None

    @classmethod
    def of(cls, row: AuditedAction) -> "LockAuditView":
        """The row."""
        return by_name(cls, row)


@locks.get("/actions", problems=["property_not_found", "operators_only"])
async def list_lock_actions(
    tx: OwnerTx, query: ListLockActions, caller: Caller, paging: Paging
) -> Page[LockAuditView]:
    """List lock actions that were asked for, the newest first, of the properties that you have a right to: done, failed, refused, or never answered."""
    seat_of(caller)
    if query.property_id is not None:
        check_property(caller, query.property_id)
    if not isinstance(tx, TenantTx):
        raise BadValueError("X-Tenant-Id", "is needed: locks are a tenant's")
    reach = PropertyReach.of(caller)
    wanted = store.AuditFilter(
        properties=None if reach.is_every else list(reach.properties),
        reservation_id=query.reservation_id,
        property_id=query.property_id,
        operator_id=OPERATOR.parse(query.operator_id, field="operator_id") if query.operator_id else None,
        action=query.action,
        outcome=query.outcome,
    )
    found = await store.list_audited(tx, wanted, after_id=paging.after_id, limit=paging.fetch)
    return paging.page(found, LockAuditView.of)


@locks.get(
    "/{reservation}/keys",
    problems=[
        "property_not_found",
        "reservation_not_found",
        "upstream_away",
        "upstream_not_connected",
        "operators_only",
    ],
)
async def list_keys(
    reservation: str, query: ListKeys, caller: Caller, upstreams: Upstreams
) -> Answer[KeysView]:
    """List the keys of a reservation, as the lock service has them at this moment."""
    seat_of(caller)
    access = check_property(caller, query.property_id)
    found = await upstreams.read(
        DoorKeys,
        "locks",
        at("/v1/properties/{}/reservations/{}/keys", query.property_id, _reservation(reservation)),
        tenant_id=access.tenant_id,
    )
    if found is None:
        raise ReservationNotFoundError
    return Answer(KeysView(items=[LockKeyView.of(key) for key in found.keys]), headers=_NO_STORE)


class ReservationNotFoundError(NotFoundError):
    """There is no such reservation in this property."""

    code = "reservation_not_found"


# Scope, right and attestation are asked for inside, so that what is refused is audited. A frozen tenant's doors have to be locked all the same.
@locks.post("/{reservation}/issue", scope=ANY_CALLER, headers=[HEADER, KEY_HEADER], problems=_PROBLEMS)
async def issue_key(
    request: Request, reservation: str, body: IssueKey, caller: Caller, key: GivenKey | None, actor: LockActor
) -> Reply | LockActionView:
    """Issue a key for a reservation. It needs `locks:write`, an attestation for `lock.issue` and an Idempotency-Key.

    `unknown` with status 202: the lock service did not answer in time. It is asked what came of it until it says; a request with the
    same key then gets the end. Nothing is ever asked for twice.
    """
    order = LockOrder(
        action="issue",
        property_id=body.property_id,
        reservation_id=_reservation(reservation),
        credential=body.credential,
        valid_until=body.valid_until,
    )
    return await _performed(request, caller, order, key, actor)


@locks.post(
    "/{reservation}/revoke", scope=ANY_CALLER, writes=False, headers=[HEADER, KEY_HEADER], problems=_PROBLEMS
)
async def revoke_keys(
    request: Request,
    reservation: str,
    body: RevokeKeys,
    caller: Caller,
    key: GivenKey | None,
    actor: LockActor,
) -> Reply | LockActionView:
    """Take all keys of a reservation away. It needs `locks:write`, an attestation for `lock.revoke` and an Idempotency-Key."""
    order = LockOrder(action="revoke", property_id=body.property_id, reservation_id=_reservation(reservation))
    return await _performed(request, caller, order, key, actor)


@locks.post("/{reservation}/rebind", scope=ANY_CALLER, headers=[HEADER, KEY_HEADER], problems=_PROBLEMS)
async def rebind_keys(
    request: Request,
    reservation: str,
    body: RebindKeys,
    caller: Caller,
    key: GivenKey | None,
    actor: LockActor,
) -> Reply | LockActionView:
    """Bind the keys of a reservation to another room. It needs `locks:write`, an attestation for `lock.rebind` and an Idempotency-Key."""
    order = LockOrder(
        action="rebind",
        property_id=body.property_id,
        reservation_id=_reservation(reservation),
        room=body.room,
    )
    return await _performed(request, caller, order, key, actor)


@locks.post("/{reservation}/extend", scope=ANY_CALLER, headers=[HEADER, KEY_HEADER], problems=_PROBLEMS)
async def extend_keys(
    request: Request,
    reservation: str,
    body: ExtendKeys,
    caller: Caller,
    key: GivenKey | None,
    actor: LockActor,
    clock: Clock,
) -> Reply | LockActionView:
    """Have the keys of a reservation open for longer. It needs `locks:write`, an attestation for `lock.extend` and an Idempotency-Key."""
    if body.valid_until <= clock.now():
        raise BadValueError("valid_until", "must be in the future; revoke keys that are to open nothing")
    order = LockOrder(
        action="extend",
        property_id=body.property_id,
        reservation_id=_reservation(reservation),
        valid_until=body.valid_until,
    )
    return await _performed(request, caller, order, key, actor)


async def _performed(
    request: Request, caller: Caller, order: LockOrder, key: GivenKey | None, actor: LockActor
) -> Reply | LockActionView:
    if key is None:
        raise BadValueError(
            KEY_HEADER, "is needed: a key of your own for this action, so that it is done once"
        )
    if caller.tenant_id is None:
        raise BadValueError("X-Tenant-Id", "is needed: locks are a tenant's")
    once = WantedOnce(key=key, request_hash=hash_request(msgspec.json.encode(order)))
    done = await actor.perform(
        caller, TenantId(caller.tenant_id), order, once=once, attestation=request.header(HEADER)
    )
    if isinstance(done, StoredAnswer):
        return Reply(body=done.response.encode(), status=done.status, headers={REPLAYED: "true"})
    status = 202 if done.outcome == "unknown" else 200
    return Reply(body=msgspec.json.encode(done), status=status)


def _reservation(text: str) -> str:
    try:
        return msgspec.convert(text, ReservationText)
    except msgspec.ValidationError:
        raise BadValueError(
            "reservation", "must be a reservation's id: letters, digits and _ . : - , 64 at most"
        ) from None
