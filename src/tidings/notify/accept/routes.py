"""The HTTP skin of accepting: it makes orders of a body, has them accepted, and answers what became of each."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta

from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer, Reply
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.field_errors import explain
from tidings.kernel.http.once import REPLAYED, GivenKey
from tidings.kernel.http.problems import MEDIA_TYPE
from tidings.kernel.http.problems import answer as problem_answer
from tidings.kernel.http.resources import Resource
from tidings.kernel.idempotency import IdempotencyKey, StoredAnswer, canonical
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import by_name
from tidings.kernel.moments import out_of_range
from tidings.kernel.refusals import InvalidError, NoneAcceptedError, RefusalError
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.order import Order, OrderedBy, Outcome, RefusedOrder, accepted
from tidings.notify.accept.replay import hash_of_order, hash_of_set
from tidings.notify.accept.wire import (
    MOST_IN_BULK,
    AcceptedView,
    BulkInput,
    BulkResult,
    BulkView,
    NotificationInput,
    RefusedBulk,
    accepted_view,
    order_of,
)
from tidings.notify.accept.writer import let_others_by

TAG: Final = "notifications"
#: Files come in base64, and five thousand items have room.
_LEAST_LIMIT: Final = 12 * 1024 * 1024
_BULK_PATH: Final = "/api/v1/notifications/bulk"
#: A body that works as it stands: the platform's own template, to a new recipient.
EXAMPLE: Final = {
    "recipient": {
        "identity": {"type": "guest", "id": "g-1"},
        "display_name": "Laila",
        "locale": "fa-AF",
        "addresses": [{"channel": "email", "address": "laila@example.test"}],
    },
    "template": "otp",
    "channel": "email",
    "variables": {"code": "481516"},
    "correlation_id": "order-A-1001",
}

sending = Resource("notifications", at="/notifications", tag=TAG, scope="notifications")

_ACCEPTED: Final = 202
_read_item = msgspec.json.Decoder(NotificationInput).decode


class SendLimit(int):
    """How many bytes a body of notifications may have."""

    @classmethod
    def of(cls, usual: int) -> "SendLimit":
        """At least what files and bulks need, more where other bodies may have more."""
        return cls(max(_LEAST_LIMIT, usual))


class _RawBulk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Each item is read by itself: one that is wrong does not refuse the others."""

    notifications: Annotated[list[msgspec.Raw], Meta(min_length=1, max_length=MOST_IN_BULK)]


@sending.post(
    test_keys=True,
    body_limit=SendLimit,
    status=_ACCEPTED,
    problems=["invalid_variables", "recipient_not_found", "recipient_erased", "too_busy"],
    example=EXAMPLE,
)
async def send_notification(
    tenant_id: TenantId, body: NotificationInput, key: GivenKey | None, caller: Caller, acceptor: Acceptor
) -> Answer[AcceptedView]:
    """Send a notification.

    `202` means that it is durable. `GET /{id}` and `GET /{id}/explain` show what becomes of it. With a test key it is
    decided and rendered, and reaches no vendor.
    """
    once = IdempotencyKey(key=key, request_hash=hash_of_order(canonical(body))) if key else None
    [outcome] = await acceptor.accept([order_of(body, _ordered_by(tenant_id, caller), once=once)])
    done = accepted(outcome)
    return Answer(accepted_view(done), headers={REPLAYED: "true"} if done.replayed else {})


@sending.post(
    "/bulk",
    test_keys=True,
    body_limit=SendLimit,
    status=_ACCEPTED,
    body=BulkInput,
    answer=BulkView,
    problems=["too_busy", "all_refused"],
    example={"notifications": [EXAMPLE]},
)
async def send_notifications(
    tenant_id: TenantId, body: _RawBulk, key: GivenKey | None, caller: Caller, acceptor: Acceptor
) -> Reply:
    """Send up to 5,000 notifications.

    Each has its own result, in their order: as for a single one, or the `problem` with it. One that is refused does
    not refuse the others. Where not one is accepted the answer is `422 all_refused`, with the same `results`.
    """
    by = _ordered_by(tenant_id, caller)
    meant: list[bytes] = []
    items: list[Order | RefusedOrder] = []
    for index, raw in enumerate(body.notifications):
        await let_others_by(index)
        try:
            given = _read(raw)
            items.append(order_of(given, by))
            if key:
                meant.append(canonical(given))
        except (RefusalError, BadValueError) as error:
            items.append(RefusedOrder(error))
            if key:
                # It can't be read; it means what its JSON says.
                meant.append(canonical(msgspec.json.decode(raw)))

    def answer(of_orders: Sequence[Outcome]) -> StoredAnswer:
        rest = iter(of_orders)
        return _bulk_answer([item if isinstance(item, RefusedOrder) else next(rest) for item in items])

    orders = [item for item in items if isinstance(item, Order)]
    if key:
        once = IdempotencyKey(key=key, request_hash=hash_of_set(meant))
        done = await acceptor.accept_once(by, orders, once=once, answer=answer)
    else:
        done = answer(await acceptor.accept(orders))
    return Reply(
        body=done.response.encode(),
        status=done.status,
        media_type="application/json" if done.status < 400 else MEDIA_TYPE,
        headers={REPLAYED: "true"} if done.replayed else {},
    )


def _ordered_by(tenant_id: TenantId, caller: Caller) -> OrderedBy:
    return OrderedBy(tenant_id, caller.role, is_test=caller.environment == "test")


def _read(raw: msgspec.Raw) -> NotificationInput:
    try:
        given = _read_item(raw)
    except msgspec.ValidationError as error:
        raise InvalidError(explain(msgspec.json.decode(raw), NotificationInput, error)) from None
    if wrong := list(out_of_range(given)):
        raise InvalidError(wrong)
    return given


def _bulk_answer(outcomes: Sequence[Outcome]) -> StoredAnswer:
    """Where not one was accepted it is a problem, so that a caller who looks at the status alone notices."""
    results = [_bulk_result(index, outcome) for index, outcome in enumerate(outcomes)]
    refused = sum(isinstance(outcome, RefusedOrder) for outcome in outcomes)
    if refused < len(results):
        view = BulkView(accepted=len(results) - refused, refused=refused, results=results)
        return StoredAnswer(_ACCEPTED, msgspec.json.encode(view).decode())
    none = NoneAcceptedError(f"none of the {refused} notifications was accepted; results says why")
    told = problem_answer(none, path=_BULK_PATH, request_id="").problem
    facts = {name: getattr(told, name) for name in told.__struct_fields__}
    problem = RefusedBulk(**facts, accepted=0, refused=refused, results=results)
    return StoredAnswer(told.status, msgspec.json.encode(problem).decode())


def _bulk_result(index: int, outcome: Outcome) -> BulkResult:
    if isinstance(outcome, RefusedOrder):
        problem = problem_answer(outcome.error, path="", request_id="").problem
        return BulkResult(index=index, problem=problem)
    return by_name(BulkResult, accepted_view(outcome), index=index, problem=UNSET)
