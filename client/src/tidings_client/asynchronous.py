"""The client for asyncio."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from datetime import date
from typing import Any, Self, TypeVar, Unpack

import httpx2

from tidings_client import calls, wire
from tidings_client.api import AsyncPlatformResources, AsyncTenantResources
from tidings_client.calls import Call, Filter
from tidings_client.errors import ClientError, NotDoneError
from tidings_client.messages import Address, Message, Options, Recipient
from tidings_client.results import (
    Accepted,
    Attempt,
    Body,
    Bulk,
    Counters,
    Explanation,
    Notification,
    Page,
    Simulation,
)
from tidings_client.retrying import Retries
from tidings_client.waiting import looks

T = TypeVar("T")

#: Between the last piece of an upload and its answer.
_UPLOAD_SECONDS = 600.0


class AsyncTidings(AsyncTenantResources):
    """`async with AsyncTidings("http://127.0.0.1:8080", "tdk_…") as tidings:`; tasks may share one."""

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        tenant: str | None = None,
        timeout: float = 30.0,
        retries: Retries | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """`tenant` is for platform keys, which act for one; `timeout` is of one try, in seconds."""
        super().__init__(self)
        given = wire.settings(base_url, key, tenant=tenant, timeout=timeout)
        self._http = httpx2.AsyncClient(**given, transport=transport)
        self._retries = retries or Retries()
        #: What is the platform's own, for its keys: `tidings.platform.status_map.list()`.
        self.platform = AsyncPlatformResources(self)

    async def close(self) -> None:
        """End the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def send(
        self,
        recipient: str | Recipient | dict[str, Any],
        template: str,
        *,
        idempotency_key: str | None = None,
        **more: Unpack[Options],
    ) -> Accepted:
        """Accept one notification. Without a key it gets one, so that repeats after a broken connection are safe."""
        message = Message(recipient=recipient, template=template, **more)
        return await self._do(calls.send(message, idempotency_key))

    async def send_bulk(self, messages: Sequence[Message], *, idempotency_key: str | None = None) -> Bulk:
        """Accept many in one request; one that is refused does not hold up the others."""
        return await self._do(calls.send_bulk(messages, idempotency_key))

    async def simulate(
        self, recipient: str | Recipient | dict[str, Any], template: str, **more: Unpack[Options]
    ) -> Simulation:
        """What would happen, by the same code; nothing is written or sent."""
        return await self._do(calls.simulate(Message(recipient=recipient, template=template, **more)))

    async def get(self, notification_id: str) -> Notification:
        """The notification as it stands."""
        return await self._do(calls.get(notification_id))

    async def explain(self, notification_id: str) -> Explanation:
        """Why it did or did not happen."""
        return await self._do(calls.explain(notification_id))

    async def body(self, notification_id: str, *, channel: str | None = None) -> Body:
        """The message as the person saw it; `channel` names another step of its ladder."""
        return await self._do(calls.body(notification_id, channel))

    async def attempts(self, notification_id: str) -> tuple[Attempt, ...]:
        """What vendors said."""
        return await self._do(calls.attempts(notification_id))

    async def release(self, notification_id: str) -> Notification:
        """Send one now that waits for quiet hours, a limit or its time; a `ConflictError` where it waits for none."""
        return await self._do(calls.release(notification_id))

    async def cancel(self, notification_id: str) -> Notification:
        """Take it back while it waits; a `ConflictError` where it is too late."""
        return await self._do(calls.cancel(notification_id))

    async def counters(self, first: date | None = None, last: date | None = None) -> Counters:
        """How many of what, by day."""
        return await self._do(calls.counters(first, last))

    async def page(
        self, *, cursor: str | None = None, limit: int | None = None, **wanted: Unpack[Filter]
    ) -> Page[Notification]:
        """One page of notifications, the newest first."""
        return await self._do(calls.page(wanted, cursor=cursor, limit=limit))

    async def list(self, **wanted: Unpack[Filter]) -> AsyncIterator[Notification]:
        """Notifications, the newest first; pages are fetched as they are needed."""
        cursor: str | None = None
        while True:
            found = await self.page(cursor=cursor, **wanted)
            for item in found.items:
                yield item
            cursor = found.next_cursor
            if cursor is None:
                return

    async def look_up(
        self,
        *,
        address: Address | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **wanted: Unpack[Filter],
    ) -> Page[Notification]:
        """One page of notifications to those who have an address, or by the filters of `page`."""
        return await self._do(calls.look_up(wanted, address=address, cursor=cursor, limit=limit))

    async def resend(self, notification_id: str, *, idempotency_key: str | None = None) -> Accepted:
        """Send it once more to the same recipient; a `ConflictError` while it is under way."""
        return await self._do(calls.resend(notification_id, idempotency_key))

    async def wait_until_done(self, notification_id: str, *, timeout: float = 30.0) -> Notification:
        """The notification when nothing follows any more; a `NotDoneError` after `timeout` seconds."""
        found = await self.get(notification_id)
        for pause in looks(timeout):
            if found.done:
                break
            await asyncio.sleep(pause)
            found = await self.get(notification_id)
        if not found.done:
            raise NotDoneError(found, timeout)
        return found

    async def call(self, call: Call[T]) -> T:
        """A call that `tidings_client.operations.call` makes of an operation by its name."""
        return await self._do(call)

    async def download(self, call: Call[bytes]) -> AsyncIterator[bytes]:
        """The answer in pieces, for what need not fit into memory; not repeated when it breaks off."""
        try:
            async with self._http.stream(
                call.method, call.path, params=dict(call.query), content=call.body, headers=call.headers
            ) as got:
                if not got.is_success:
                    calls.answer(call, got.status_code, await got.aread(), got.headers)
                async for piece in got.aiter_bytes():
                    yield piece
        except httpx2.RequestError as error:
            raise wire.not_reached(error, self._http.base_url) from error

    async def upload(self, call: Call[T], pieces: AsyncIterable[bytes] | Iterable[bytes]) -> T:
        """A call whose body need not fit into memory; not repeated when it breaks off."""
        headers = {**call.headers, "content-type": call.media_type}
        # The answer comes when all of it was taken in.
        usual = self._http.timeout
        patience = httpx2.Timeout(
            connect=usual.connect, write=usual.write, pool=usual.pool, read=_UPLOAD_SECONDS
        )
        try:
            got = await self._http.request(
                call.method,
                call.path,
                params=dict(call.query),
                content=_one_by_one(pieces),
                headers=headers,
                timeout=patience,
            )
        except httpx2.RequestError as error:
            raise wire.not_reached(error, self._http.base_url) from error
        return calls.answer(call, got.status_code, got.content, got.headers)

    async def _do(self, call: Call[T]) -> T:
        tried = 0
        while True:
            tried += 1
            try:
                return await self._try(call)
            except ClientError as failed:
                pause = self._retries.pause(failed, tried)
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    async def _try(self, call: Call[T]) -> T:
        try:
            got = await self._http.request(
                call.method, call.path, params=dict(call.query), content=call.body, headers=call.headers
            )
        except httpx2.RequestError as error:
            raise wire.not_reached(error, self._http.base_url) from error
        return calls.answer(call, got.status_code, got.content, got.headers)


async def _one_by_one(pieces: AsyncIterable[bytes] | Iterable[bytes]) -> AsyncIterator[bytes]:
    if isinstance(pieces, AsyncIterable):
        async for piece in pieces:
            yield piece
        return
    for piece in pieces:
        yield piece
        # Pieces that are there at once must not keep other tasks from their turn.
        await asyncio.sleep(0)
