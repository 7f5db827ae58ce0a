"""The HTTP skin of accepting, without a framework: it reads a body into orders, has them accepted, and answers bytes.

These are the hottest routes. They pass the same door as every other, read bodies as strictly, and answer the same problems.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from tidings.kernel.errors import BadValueError
from tidings.kernel.http.asgi import App, Receive, Scope, Send, read_all, respond
from tidings.kernel.http.bodies import decode, refuse_query, require_json
from tidings.kernel.http.callers import AccessGuard, Need
from tidings.kernel.http.field_errors import explain
from tidings.kernel.http.once import REPLAYED, key_of
from tidings.kernel.http.problems import MEDIA_TYPE
from tidings.kernel.http.problems import answer as problem_answer
from tidings.kernel.idempotency import IdempotencyKey, StoredAnswer, canonical
from tidings.kernel.moments import out_of_range
from tidings.kernel.refusals import InvalidError, NoneAcceptedError, RefusalError
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.order import Order, OrderedBy, Outcome, RefusedOrder, accepted
from tidings.notify.accept.replay import hash_of_order, hash_of_set
from tidings.notify.accept.wire import (
    MOST_IN_BULK,
    BulkResult,
    BulkView,
    NotificationInput,
    RefusedBulk,
    accepted_view,
    order_of,
)
from tidings.notify.accept.writer import let_others_by

ONE_PATH: Final = "/api/v1/notifications"
BULK_PATH: Final = "/api/v1/notifications/bulk"
#: Files come in base64, and five thousand items have room.
BODY_LIMIT: Final = 12 * 1024 * 1024

_ONE: Final = Need(scope="notifications:write", writes=True, operation=f"POST {ONE_PATH}", test_keys=True)
_BULK: Final = Need(scope="notifications:write", writes=True, operation=f"POST {BULK_PATH}", test_keys=True)
_ACCEPTED: Final = 202

_encode = msgspec.json.Encoder().encode
_read_item = msgspec.json.Decoder(NotificationInput).decode


class _RawBulk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Each item is read by itself: one that is wrong does not refuse the others."""

    notifications: Annotated[list[msgspec.Raw], Meta(min_length=1, max_length=MOST_IN_BULK)]


class AcceptEndpoint:
    """Takes requests in; `routes()` is what stands in front of the framework."""

    def __init__(self, *, door: AccessGuard, acceptor: Acceptor) -> None:
        self._door = door
        self._acceptor = acceptor

    def routes(self) -> dict[tuple[str, str], App]:
        """By method and path."""
        return {("POST", ONE_PATH): self.one, ("POST", BULK_PATH): self.many}

    async def one(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /api/v1/notifications`."""
        by = await self._admit(scope, _ONE)
        body = await _body(scope, receive)
        key = key_of(scope)
        given = decode(body, NotificationInput)
        once = IdempotencyKey(key=key, request_hash=hash_of_order(canonical(given))) if key else None
        [outcome] = await self._acceptor.accept([order_of(given, by, once=once)])
        done = accepted(outcome)
        await _answer(send, _ACCEPTED, _encode(accepted_view(done)), replayed=done.replayed)

    async def many(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /api/v1/notifications/bulk`."""
        by = await self._admit(scope, _BULK)
        body = await _body(scope, receive)
        key = key_of(scope)
        meant: list[bytes] = []
        places: list[Order | RefusedOrder] = []
        for index, raw in enumerate(decode(body, _RawBulk).notifications):
            await let_others_by(index)
            try:
                given = _read(raw)
                places.append(order_of(given, by))
                if key:
                    meant.append(canonical(given))
            except (RefusalError, BadValueError) as error:
                places.append(RefusedOrder(error))
                if key:
                    # Nobody could read it; it means what its JSON says.
                    meant.append(canonical(msgspec.json.decode(raw)))

        def answer(of_orders: Sequence[Outcome]) -> StoredAnswer:
            rest = iter(of_orders)
            return _bulk_answer([one if isinstance(one, RefusedOrder) else next(rest) for one in places])

        orders = [one for one in places if isinstance(one, Order)]
        if key:
            once = IdempotencyKey(key=key, request_hash=hash_of_set(meant))
            done = await self._acceptor.accept_once(by, orders, once=once, answer=answer)
        else:
            done = answer(await self._acceptor.accept(orders))
        await _answer(send, done.status, done.response.encode(), replayed=done.replayed)

    async def _admit(self, scope: Scope, need: Need) -> OrderedBy:
        caller = await self._door.admit(scope, need)
        refuse_query(scope.get("query_string", b""))
        tenant_id = caller.tenant_id
        assert tenant_id is not None, "the need asks for a tenant"  # noqa: S101
        return OrderedBy(tenant_id, caller.role, is_test=caller.environment == "test")


async def _body(scope: Scope, receive: Receive) -> bytes:
    require_json(scope)
    return await read_all(receive)


def _read(raw: msgspec.Raw) -> NotificationInput:
    try:
        given = _read_item(raw)
    except msgspec.ValidationError as error:
        raise InvalidError(explain(msgspec.json.decode(raw), NotificationInput, error)) from None
    if wrong := list(out_of_range(given)):
        raise InvalidError(wrong)
    return given


async def _answer(send: Send, status: int, body: bytes, *, replayed: bool) -> None:
    extra = [(REPLAYED, "true")] if replayed else []
    kind = "application/json" if status < 400 else MEDIA_TYPE
    await respond(send, status, body, media_type=kind, extra=extra)


def _bulk_answer(outcomes: Sequence[Outcome]) -> StoredAnswer:
    """Where not one was accepted it is a problem, so that those who look at the status alone notice."""
    results = [_bulk_result(index, outcome) for index, outcome in enumerate(outcomes)]
    refused = sum(isinstance(outcome, RefusedOrder) for outcome in outcomes)
    if refused < len(results):
        view = BulkView(accepted=len(results) - refused, refused=refused, results=results)
        return StoredAnswer(_ACCEPTED, _encode(view).decode())
    none = NoneAcceptedError(f"none of the {refused} notifications was accepted; results says why")
    told = problem_answer(none, path=BULK_PATH, request_id="").problem
    facts = {name: getattr(told, name) for name in told.__struct_fields__}
    problem = RefusedBulk(**facts, accepted=0, refused=refused, results=results)
    return StoredAnswer(told.status, _encode(problem).decode())


def _bulk_result(index: int, outcome: Outcome) -> BulkResult:
    if isinstance(outcome, RefusedOrder):
        problem = problem_answer(outcome.error, path="", request_id="").problem
        return BulkResult(index=index, problem=problem)
    view = accepted_view(outcome)
    return BulkResult(
        index=index,
        id=view.id,
        status=view.status,
        recipient_id=view.recipient_id,
        created_at=view.created_at,
        links=view.links,
        duplicate=view.duplicate,
    )
