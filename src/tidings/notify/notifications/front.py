"""The hottest routes, without a framework: one notification, and many.

They pass the same door as every other route, read bodies as strictly, and answer the same problems.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError, DatabaseUnavailableError, TidingsError
from tidings.kernel.http.asgi import App, Receive, Scope, SeenScope, Send, headers, read_all, respond
from tidings.kernel.http.bodies import decode, refuse_query, require_json
from tidings.kernel.http.callers import Caller, Door, Need
from tidings.kernel.http.explain import explain
from tidings.kernel.http.once import REPLAYED
from tidings.kernel.http.problems import MEDIA_TYPE
from tidings.kernel.idempotency import HEADER, canonical, hash_request, parse_key
from tidings.kernel.moments import out_of_range
from tidings.kernel.refusals import InvalidError, RefusalError
from tidings.notify.notifications.accept import Incoming, incoming, let_others_by
from tidings.notify.notifications.attachments import Attachments, Stored
from tidings.notify.notifications.intake import BULK_SCOPE, SINGLE_SCOPE, Intake, Lane, Once, Reply, Ticket
from tidings.notify.notifications.order import OrderDesk
from tidings.notify.notifications.wire import MOST_IN_BULK, NotificationInput

ONE_PATH: Final = "/api/v1/notifications"
BULK_PATH: Final = "/api/v1/notifications/bulk"
#: Files come in base64, and five thousand items have room.
BODY_LIMIT: Final = 12 * 1024 * 1024

_ONE: Final = Need(scope="notifications:write", writes=True, operation=f"POST {ONE_PATH}", test_keys=True)
_BULK: Final = Need(scope="notifications:write", writes=True, operation=f"POST {BULK_PATH}", test_keys=True)


class _RawBulk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Each item is read by itself: one that is wrong does not refuse the others."""

    notifications: Annotated[list[msgspec.Raw], Meta(min_length=1, max_length=MOST_IN_BULK)]


_read_item = msgspec.json.Decoder(NotificationInput).decode


class NotificationsFront:
    """Takes requests in; `routes()` is what stands in front of the framework."""

    def __init__(
        self, *, door: Door, desk: OrderDesk, intake: Intake, attachments: Attachments, clock: Clock
    ) -> None:
        self._door = door
        self._desk = desk
        self._intake = intake
        self._attachments = attachments
        self._clock = clock

    def routes(self) -> dict[tuple[str, str], App]:
        """By method and path."""
        return {("POST", ONE_PATH): self.one, ("POST", BULK_PATH): self.many}

    async def one(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /api/v1/notifications`."""
        caller, lane = await self._admit(scope, _ONE)
        body = await _body(scope, receive)
        key = _key(scope)
        given = decode(body, NotificationInput)
        once = Once(key=key, request_hash=_hash(SINGLE_SCOPE, canonical(given))) if key else None
        item = await self._incoming(lane, given, caller)
        try:
            reply = await self._intake.one(lane, Ticket(item=item, once=once))
        except TidingsError as error:
            await self._discard_after(error, [item])
            raise
        if not reply.wrote:
            await self._discard([item])
        await _answer(send, reply)

    async def many(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /api/v1/notifications/bulk`."""
        caller, lane = await self._admit(scope, _BULK)
        body = await _body(scope, receive)
        key = _key(scope)
        meant: list[bytes] = []
        places: list[tuple[int, Incoming | Exception]] = []
        items: list[Incoming] = []
        try:
            for index, raw in enumerate(decode(body, _RawBulk).notifications):
                await let_others_by(index)
                try:
                    given = _read(raw)
                    if key:
                        meant.append(canonical(given))
                    items.append(await self._incoming(lane, given, caller))
                    places.append((index, items[-1]))
                except (RefusalError, BadValueError) as refusal:
                    places.append((index, refusal))
                    if key and len(meant) == index:
                        # Nobody could read it; it means what its JSON says.
                        meant.append(canonical(msgspec.json.decode(raw)))
            once = Once(key=key, request_hash=_hash(BULK_SCOPE, *meant)) if key else None
            reply = await self._intake.many(lane, places, once)
        except TidingsError as error:
            await self._discard_after(error, items)
            raise
        await self._discard([item for item in items if not reply.wrote or item.id in reply.unwritten])
        await _answer(send, reply)

    async def _admit(self, scope: Scope, need: Need) -> tuple[Caller, Lane]:
        caller = await self._door.admit(scope, need)
        refuse_query(scope.get("query_string", b""))
        tenant_id = caller.tenant_id
        assert tenant_id is not None, "the need asks for a tenant"  # noqa: S101
        return caller, Lane(tenant_id, caller.role, is_test=caller.environment == "test")

    async def _incoming(self, lane: Lane, given: NotificationInput, caller: Caller) -> Incoming:
        order = await self._desk.check(lane.tenant_id, given)
        item = incoming(order, now=self._clock.now(), is_test=caller.environment == "test")
        if not order.attachments:
            return item
        files = await self._attachments.store(lane.tenant_id, item.id, order.attachments)
        return replace(item, files=files)

    async def _discard_after(self, error: TidingsError, items: Sequence[Incoming]) -> None:
        # Where the database went away nobody knows whether they were written: then their files stay.
        if not isinstance(error, DatabaseUnavailableError):
            await self._discard(items)

    async def _discard(self, items: Sequence[Incoming]) -> None:
        stored: list[Stored] = [item.files for item in items if item.files is not None]
        for files in stored:
            await self._attachments.discard(files)


async def _body(scope: Scope, receive: Receive) -> bytes:
    require_json(scope)
    return await read_all(receive)


def _key(scope: SeenScope) -> str | None:
    given = headers(scope, b"idempotency-key")
    if not given:
        return None
    if len(given) > 1:
        raise BadValueError(HEADER, "is given more than once")
    return parse_key(given[0])


def _hash(where: str, *meant: bytes) -> str:
    return hash_request(where.encode(), b"", *meant)


def _read(raw: msgspec.Raw) -> NotificationInput:
    try:
        given = _read_item(raw)
    except msgspec.ValidationError as error:
        raise InvalidError(explain(msgspec.json.decode(raw), NotificationInput, error)) from None
    if wrong := list(out_of_range(given)):
        raise InvalidError(wrong)
    return given


async def _answer(send: Send, reply: Reply) -> None:
    extra = [(REPLAYED, "true")] if reply.replayed else []
    kind = "application/json" if reply.status < 400 else MEDIA_TYPE
    await respond(send, reply.status, reply.body, media_type=kind, extra=extra)
