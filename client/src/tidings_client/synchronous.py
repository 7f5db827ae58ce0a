"""The client for ordinary code."""

import time
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Self, TypeVar, Unpack

import httpx2

from tidings_client import calls, wire
from tidings_client.api import PlatformResources, TenantResources
from tidings_client.calls import Call, Filter, new_key, one
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


class Tidings(TenantResources):
    """`with Tidings("http://127.0.0.1:8080", "tdk_…") as tidings:`; threads may share one."""

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        tenant: str | None = None,
        timeout: float = 30.0,
        retries: Retries | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        """`tenant` is for platform keys, which act for one; `timeout` is of one try, in seconds."""
        super().__init__(self)
        given = wire.settings(base_url, key, tenant=tenant, timeout=timeout)
        self._http = httpx2.Client(**given, transport=transport)
        self._retries = retries or Retries()
        #: What is the platform's own, for its keys: `tidings.platform.status_map.list()`.
        self.platform = PlatformResources(self)

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(
        self,
        recipient: str | Recipient | dict[str, Any],
        template: str,
        *,
        idempotency_key: str | None = None,
        **more: Unpack[Options],
    ) -> Accepted:
        """Accept one notification. Without a key it gets one, so that repeats after a broken connection are safe."""
        message = Message(recipient=recipient, template=template, **more)
        return self._do(calls.post("", Accepted, message, key=idempotency_key or new_key()))

    def send_bulk(self, messages: Sequence[Message], *, idempotency_key: str | None = None) -> Bulk:
        """Accept many in one request; one that is refused does not hold up the others."""
        return self._do(
            calls.post("/bulk", Bulk, {"notifications": messages}, key=idempotency_key or new_key())
        )

    def simulate(
        self, recipient: str | Recipient | dict[str, Any], template: str, **more: Unpack[Options]
    ) -> Simulation:
        """What would happen, by the same code; nothing is written or sent."""
        message = Message(recipient=recipient, template=template, **more)
        return self._do(calls.post("/simulate", Simulation, message, safe=True))

    def get(self, notification_id: str) -> Notification:
        """The notification as it stands."""
        return self._do(calls.get(one(notification_id), Notification))

    def explain(self, notification_id: str) -> Explanation:
        """Why it did or did not happen."""
        return self._do(calls.explain(notification_id))

    def body(self, notification_id: str, *, channel: str | None = None) -> Body:
        """The message as the person saw it; `channel` names another step of its ladder."""
        return self._do(calls.get(f"{one(notification_id)}/body", Body, channel=channel))

    def attempts(self, notification_id: str) -> tuple[Attempt, ...]:
        """What vendors said."""
        found = self._do(calls.get(f"{one(notification_id)}/attempts", Page[Attempt]))
        return found.items

    def release(self, notification_id: str) -> Notification:
        """Send one now that waits for quiet hours, a limit or its time; a `ConflictError` where it waits for none."""
        return self._do(calls.post(f"{one(notification_id)}/release", Notification))

    def cancel(self, notification_id: str) -> Notification:
        """Take it back while it waits; a `ConflictError` where it is too late."""
        return self._do(calls.post(f"{one(notification_id)}/cancel", Notification))

    def counters(self, first: date | None = None, last: date | None = None) -> Counters:
        """How many of what, by day."""
        return self._do(calls.get("/counters", Counters, **{"from": first, "to": last}))

    def page(
        self, *, cursor: str | None = None, limit: int | None = None, **wanted: Unpack[Filter]
    ) -> Page[Notification]:
        """One page of notifications, the newest first."""
        return self._do(calls.get("", Page[Notification], **wanted, cursor=cursor, limit=limit))

    def list(self, **wanted: Unpack[Filter]) -> Iterator[Notification]:
        """Notifications, the newest first; pages are fetched as they are needed."""
        cursor: str | None = None
        while True:
            found = self.page(cursor=cursor, **wanted)
            yield from found.items
            cursor = found.next_cursor
            if cursor is None:
                return

    def look_up(
        self,
        *,
        address: Address | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **wanted: Unpack[Filter],
    ) -> Page[Notification]:
        """One page of notifications to those who have an address, or by the filters of `page`."""
        given = {**wanted, "address": address, "cursor": cursor, "limit": limit}
        content = {name: value for name, value in given.items() if value is not None}
        return self._do(calls.post("/lookup", Page[Notification], content, safe=True))

    def resend(self, notification_id: str, *, idempotency_key: str | None = None) -> Accepted:
        """Send it once more to the same recipient; a `ConflictError` while it is under way."""
        return self._do(
            calls.post(f"{one(notification_id)}/resend", Accepted, key=idempotency_key or new_key())
        )

    def wait_until_done(self, notification_id: str, *, timeout: float = 30.0) -> Notification:
        """The notification when nothing follows any more; a `NotDoneError` after `timeout` seconds."""
        found = self.get(notification_id)
        for pause in looks(timeout):
            if found.done:
                break
            time.sleep(pause)
            found = self.get(notification_id)
        if not found.done:
            raise NotDoneError(found, timeout)
        return found

    def call(self, call: Call[T]) -> T:
        """A call that `tidings_client.operations.call` makes of an operation by its name."""
        return self._do(call)

    def download(self, call: Call[bytes]) -> Iterator[bytes]:
        """The answer in pieces, for what need not fit into memory; not repeated when it breaks off."""
        try:
            with self._http.stream(
                call.method, call.path, params=dict(call.query), content=call.body, headers=call.headers
            ) as got:
                if not got.is_success:
                    calls.answer(call, got.status_code, got.read(), got.headers)
                yield from got.iter_bytes()
        except httpx2.RequestError as error:
            raise wire.not_reached(error, self._http.base_url) from error

    def upload(self, call: Call[T], pieces: Iterator[bytes]) -> T:
        """A call with a body that need not fit into memory; not repeated when it breaks off."""
        headers = {**call.headers, "content-type": call.media_type}
        # The answer comes when all of it was taken in.
        usual = self._http.timeout
        patience = httpx2.Timeout(
            connect=usual.connect, write=usual.write, pool=usual.pool, read=_UPLOAD_SECONDS
        )
        try:
            got = self._http.request(
                call.method,
                call.path,
                params=dict(call.query),
                content=pieces,
                headers=headers,
                timeout=patience,
            )
        except httpx2.RequestError as error:
            raise wire.not_reached(error, self._http.base_url) from error
        return calls.answer(call, got.status_code, got.content, got.headers)

    def _do(self, call: Call[T]) -> T:
        tried = 0
        while True:
            tried += 1
            try:
                return self._try(call)
            except ClientError as failed:
                pause = self._retries.pause(failed, tried, repeatable=call.repeatable)
                if pause is None:
                    raise
            time.sleep(pause)

    def _try(self, call: Call[T]) -> T:
        try:
            got = self._http.request(
                call.method, call.path, params=dict(call.query), content=call.body, headers=call.headers
            )
        except httpx2.RequestError as error:
            raise wire.not_reached(error, self._http.base_url) from error
        return calls.answer(call, got.status_code, got.content, got.headers)
