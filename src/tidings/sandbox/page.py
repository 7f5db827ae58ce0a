"""What the sandbox shows: messages as JSON, as a live stream, and as a page."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec

from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import decode_query, refuse_query
from tidings.kernel.refusals import NotFoundError
from tidings.sandbox import reading, receipts
from tidings.sandbox.bell import KEEP_ALIVE
from tidings.sandbox.controls import Controls
from tidings.sandbox.dialect_endpoints import DialectEndpoints
from tidings.sandbox.faults import Faults
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.http_vendors import HttpVendors
from tidings.sandbox.inbound_replies import InboundReplies
from tidings.sandbox.page_policy import page_policy
from tidings.sandbox.receipt_format import ReceiptFormat
from tidings.sandbox.receipt_sender import ReceiptSender
from tidings.sandbox.receipts import Course
from tidings.sandbox.scripts import ReceiptScripts
from tidings.sandbox.store import ReceivedMessage, Store

_PAGE = Path(__file__).with_name("page.html")
#: How many of the newest the page begins with.
_FIRST = 200
#: Messages that are read in one go before others get their turn.
_AT_ONCE = 20
#: A stranger's HTML: nothing runs, nothing is fetched, nothing leaves.
_MAIL_POLICY = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:"


class _Filter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    to: str | None = None
    channel: str | None = None


class Site:
    """Answers every request that comes to the sandbox."""

    def __init__(
        self,
        store: Store,
        faults: Faults,
        scripts: ReceiptScripts,
        postman: ReceiptSender,
        *,
        wording: ReceiptFormat,
        replies: InboundReplies,
    ) -> None:
        self._store = store
        self._faults = faults
        self._replies = replies
        self._wording = wording
        self._ledger = postman.ledger
        self._vendors = HttpVendors(store, faults, scripts, postman)
        self._speakers = DialectEndpoints(store, faults, scripts, postman, wording)
        self._controls = Controls(faults, scripts, postman.hooks, replies)
        self._page = _PAGE.read_bytes()
        self._policy = page_policy(self._page.decode())
        self._closing = asyncio.Event()

    def close(self) -> None:
        """End the live streams."""
        self._closing.set()

    def handle(self, request: SandboxRequest) -> SandboxResponse:
        """One request."""
        steps = request.path.strip("/").split("/")
        if self._speakers.know(steps[0]):
            return self._speakers.take(steps[0], request)
        match (request.method, *steps):
            case ("POST" | "PUT" | "PATCH", "vendors", vendor, "messages"):
                return self._vendors.take(vendor, request)
            case ("DELETE", "vendors", vendor, "messages", message_id):
                return self._vendors.cancel(vendor, message_id)
            case ("POST" | "PUT" | "PATCH", "http", *_):
                return self._vendors.take("http", request)
            case ("GET", ""):
                return self._show_page()
            case ("GET", "messages"):
                return self._list(decode_query(request.query, _Filter))
            case ("DELETE", "messages"):
                refuse_query(request.query)
                self._vendors.forget()
                self._speakers.forget()
                return json_answer({"deleted": self._store.clear()})
            case ("GET", "messages", message_id):
                return json_answer(self._whole(self._found(message_id)))
            case ("GET", "messages", message_id, "html"):
                return self._show_mail(self._found(message_id))
            case ("GET", "messages", message_id, "raw"):
                return SandboxResponse(body=self._found(message_id).raw)
            case ("GET", "stats"):
                stats = {
                    "kept": len(self._store),
                    "bytes": self._store.bytes,
                    "received": self._store.received,
                }
                return json_answer(stats)
            case ("GET", "events"):
                return self._events(request)
        return self._controls.handle(request, steps)

    def _found(self, message_id: str) -> ReceivedMessage:
        message = self._store.get(message_id)
        if message is None:
            raise NotFoundError("there is no such message, or it had to make room for newer ones")
        return message

    def _whole(self, message: ReceivedMessage) -> dict[str, Any]:
        shown: dict[str, Any] = msgspec.to_builtins(reading.show(message))
        attached = [
            {"filename": n, "media_type": kind, "bytes": size} for n, kind, size in reading.files(message)
        ]
        course = self._ledger.get(message.id)
        told = _course(course) if course is not None else {"course": None, "script": None, "receipts": []}
        written = {
            "vendor": message.vendor,
            "answerable": self._replies.is_answerable(message),
            "tells": self._wording.tells(message.vendor),
        }
        return {**shown, **written, "attachments": attached, **told}

    def _show_page(self) -> SandboxResponse:
        headers = {"content-security-policy": self._policy, "referrer-policy": "no-referrer"}
        return SandboxResponse(body=self._page, media_type="text/html; charset=utf-8", headers=headers)

    def _show_mail(self, message: ReceivedMessage) -> SandboxResponse:
        headers = {"content-security-policy": _MAIL_POLICY, "referrer-policy": "no-referrer"}
        body = reading.page_html(message).encode("utf-8", "replace")
        return SandboxResponse(body=body, media_type="text/html; charset=utf-8", headers=headers)

    def _list(self, wanted: _Filter) -> SandboxResponse:
        found = self._store.find(to=wanted.to, channel=wanted.channel)
        return SandboxResponse(media_type="application/json", stream=_as_json(found))

    def _events(self, request: SandboxRequest) -> SandboxResponse:
        run, _, seen = request.headers.get("last-event-id", "0").rpartition("_")
        if not (seen.isascii() and seen.isdecimal()):
            raise BadValueError("Last-Event-ID", "must be the id of an event, as it came")
        # A page that was open before a new start has to forget what it showed.
        elsewhere = run not in ("", self._store.run)
        stream = self._live(0 if elsewhere else int(seen[:18]), forget=elsewhere)
        return SandboxResponse(media_type="text/event-stream", stream=stream)

    async def _live(self, seen: int, *, forget: bool) -> AsyncIterator[bytes]:
        change = kept = 0
        yield b"retry: 1000\n\n"
        if forget:
            yield b"event: cleared\ndata: {}\n\n"
        async with aclosing(self._store.bell.rings(self._closing)) as rings:
            async for rang in rings:
                if not rang:
                    yield KEEP_ALIVE
                if len(self._store) == 0:
                    yield b"event: cleared\ndata: {}\n\n"
                for message in self._store.after(seen, limit=_FIRST):
                    line = msgspec.json.encode(_line(message, self._ledger.get(message.id)))
                    yield b"id: %s\ndata: %s\n\n" % (message.id.removeprefix("sbx_").encode(), line)
                seen = self._store.last_number
                if len(self._store) != kept:
                    kept = len(self._store)
                    yield b"event: kept\ndata: %d\n\n" % kept
                for course in self._ledger.after(change, limit=_FIRST):
                    yield b"event: course\ndata: %s\n\n" % msgspec.json.encode(_course(course))
                change = self._ledger.last_change


async def _as_json(messages: list[ReceivedMessage]) -> AsyncIterator[bytes]:
    """The list, a few at a time: reading ten thousand mails takes seconds, and others wait."""
    yield b'{"messages":['
    for start in range(0, len(messages), _AT_ONCE):
        piece = b",".join(
            msgspec.json.encode(reading.show(message)) for message in messages[start : start + _AT_ONCE]
        )
        yield (b"," if start else b"") + piece
        await asyncio.sleep(0)
    yield b"]}"


def _line(message: ReceivedMessage, course: Course | None) -> dict[str, Any]:
    return {
        "id": message.id,
        "adapter": message.adapter,
        "vendor": message.vendor,
        "channel": message.channel,
        "to": ", ".join(message.to),
        "subject": reading.title(message),
        "received_at": reading.moment(message),
        "course": course.summary if course is not None and course.worth_telling else None,
    }


def _course(course: Course) -> dict[str, Any]:
    return {
        "id": course.message_id,
        "course": course.summary,
        "script": course.script,
        "receipts": [receipts.show(receipt) for receipt in course.receipts],
    }
