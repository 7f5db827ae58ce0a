"""The sandbox's receivers of webhooks over HTTP: they hear calls, verify and show them, and fail when told to."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import decode
from tidings.kernel.http.errors import NoRouteError
from tidings.kernel.refusals import NotFoundError
from tidings.kernel.signed_webhooks.secrets import SIGNING_FORM, secrets_of, signs
from tidings.sandbox.bell import KEEP_ALIVE
from tidings.sandbox.faults import FaultEffect, Faults, Mode
from tidings.sandbox.http_messages import HeldResponse, SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.page_policy import page_policy
from tidings.sandbox.tenant_api import OK, TenantApi
from tidings.sandbox.webhook_calls import HeardWebhook, WebhookCalls, WebhookReceiver

_PAGE: Final = Path(__file__).with_name("receiver.html")
#: Faults that are an answer.
_ANSWERS: Final[Mapping[Mode, HTTPStatus]] = {
    "reject_permanent": HTTPStatus.BAD_REQUEST,
    "reject_temporary": HTTPStatus.SERVICE_UNAVAILABLE,
    "throttle": HTTPStatus.TOO_MANY_REQUESTS,
    "error": HTTPStatus.INTERNAL_SERVER_ERROR,
    "gone": HTTPStatus.GONE,
    "redirect": HTTPStatus.TEMPORARY_REDIRECT,
}
#: Those that say when to come again.
_WAITS: Final = frozenset({"reject_temporary", "throttle"})
_TAKEN: Final = HTTPStatus.NO_CONTENT
_WEBHOOKS: Final = "/api/v1/webhooks"
#: The receiver of the page without a name.
_FIRST: Final = "demo"


class PutReceiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a receiver verifies with."""

    #: `whsec_…`, several with blanks between them; null: signatures are not looked at.
    secret: Annotated[str, Meta(min_length=1, max_length=2048)] | None

    def secrets(self) -> tuple[str, ...]:
        """Each of them."""
        if self.secret is None:
            return ()
        if not signs(self.secret):
            raise BadValueError("secret", SIGNING_FORM)
        return secrets_of(self.secret)

    def __repr__(self) -> str:
        return "PutReceiver(***)"


class MakeReceiverWebhook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events the demo tenant's webhook tells a receiver of."""

    events: Annotated[list[Annotated[str, Meta(min_length=1, max_length=200)]], Meta(min_length=1)]


class ReceiverSite:
    """Answers every request under `/receiver` (the calls, and the page) and `/receivers` (what is known of them)."""

    def __init__(
        self, calls: WebhookCalls, faults: Faults, api: TenantApi, *, address: Callable[[], str]
    ) -> None:
        """`address` is where the sandbox is, once it listens."""
        self._calls = calls
        self._faults = faults
        self._api = api
        self._address = address
        self._page = _PAGE.read_bytes()
        self._policy = page_policy(self._page.decode())
        self._closing = asyncio.Event()

    def close(self) -> None:
        """End the live streams."""
        self._closing.set()

    def handle(self, request: SandboxRequest, first: str, steps: list[str]) -> SandboxResponse:
        """One request; `first` is the first word of its path."""
        if first == "receiver":
            return self._hear(request, steps)
        match (request.method, *steps):
            case ("GET",):
                return json_answer({"receivers": [self._shown(one) for one in self._calls.all()]})
            case ("GET", name):
                return json_answer(self._shown(self._calls.find(name)))
            case ("PUT", name):
                put = decode(request.body, PutReceiver)
                return json_answer(self._shown(self._calls.set_secrets(name, put.secrets())))
            case ("DELETE", name):
                self._calls.end(name)
                self._faults.clear("receiver", name)
                return SandboxResponse(status=204)
            case ("GET", name, "calls"):
                calls = [_whole(call) for call in self._calls.find(name).calls]
                return json_answer({"calls": calls})
            case ("GET", name, "calls", number):
                return json_answer(_whole(self._found(name, number)))
            case ("DELETE", name, "calls"):
                return json_answer({"deleted": self._calls.clear(name)})
            case ("GET", name, "events"):
                if name not in {one.name for one in self._calls.all()}:
                    # To a browser it means: come no more. A page that is still open would bring back what was ended.
                    return SandboxResponse(status=204)
                stream = self._live(name)
                return SandboxResponse(media_type="text/event-stream", stream=stream)
            case ("POST", name, "webhook"):
                wanted = decode(request.body, MakeReceiverWebhook)
                return SandboxResponse(later=self._make_webhook(self._calls.ensure(name).name, wanted))
        raise NoRouteError

    def _hear(self, request: SandboxRequest, steps: list[str]) -> SandboxResponse:
        match (request.method, *steps):
            case ("GET",) | ("GET", _):
                # Whoever opens the page waits for its first call.
                self._calls.ensure(steps[0] if steps else _FIRST)
                return self._show_page()
            case ("POST" | "PUT" | "PATCH", name):
                receiver = self._calls.ensure(name)
                fault = self._faults.strike("receiver", name)
                answer = self._answer(fault, receiver.name)
                held = answer.hold is not None and answer.hold.kind != "slow"
                self._calls.hear(
                    name,
                    method=request.method,
                    headers=request.headers,
                    body=request.body,
                    answer=answer.hold.kind if held and answer.hold is not None else answer.status,
                )
                return answer
        raise NotFoundError("webhooks are POSTed to /receiver/NAME; a browser opens the same address")

    def _answer(self, fault: FaultEffect | None, name: str) -> SandboxResponse:
        if fault is None:
            return SandboxResponse(status=_TAKEN)
        status = _ANSWERS.get(fault.mode)
        if status is None:
            hold = HeldResponse(kind=fault.mode, seconds=fault.delay)  # type: ignore[arg-type]  # answers are gone
            return SandboxResponse(status=_TAKEN, hold=hold)
        headers = {"retry-after": str(fault.retry_after)} if fault.mode in _WAITS else {}
        if fault.mode == "redirect":
            headers["location"] = f"{self._address()}/receiver/{name}"
        return SandboxResponse(status=status, body=f"{status.phrase}\n".encode(), headers=headers)

    def _found(self, name: str, number: str) -> HeardWebhook:
        for call in self._calls.find(name).calls:
            if str(call.number) == number:
                return call
        raise NotFoundError("there is no such call, or it had to make room for newer ones")

    def _shown(self, receiver: WebhookReceiver) -> dict[str, Any]:
        """A receiver without its secret."""
        access = self._api.access
        return {
            "name": receiver.name,
            "url": f"{self._address()}/receiver/{receiver.name}",
            "verifies": bool(receiver.secrets),
            "heard": receiver.heard,
            "kept": len(receiver.calls),
            "faults": [
                one for one in self._faults.standing("receiver") if one.vendor in (None, receiver.name)
            ],
            #: Whether `POST …/webhook` makes a webhook that may lead here.
            "makes_webhooks": access is not None and access.may_call_loopback,
        }

    def _show_page(self) -> SandboxResponse:
        headers = {"content-security-policy": self._policy, "referrer-policy": "no-referrer"}
        return SandboxResponse(body=self._page, media_type="text/html; charset=utf-8", headers=headers)

    async def _make_webhook(self, name: str, wanted: MakeReceiverWebhook) -> SandboxResponse:
        """A webhook of the demo tenant that leads here; its secret is handed over, and shown to nobody."""
        url = f"{self._address()}/receiver/{name}"
        body = {"url": url, "name": f"sandbox: {name}", "events": wanted.events}
        status, made = await self._api.ask("POST", _WEBHOOKS, body)
        if status not in OK:
            return json_answer(made, status=status)
        known = self._calls.ensure(name).secrets
        # Another webhook may lead here as well: what is signed with its secret still fits.
        self._calls.set_secrets(name, [made.pop("secret"), *known][:4])
        return json_answer(made, status=status)

    async def _live(self, name: str) -> AsyncIterator[bytes]:
        said: bytes | None = None
        edition = seen = 0
        yield b"retry: 1000\n\n"
        async with aclosing(self._calls.bell.rings(self._closing)) as rings:
            async for rang in rings:
                if not rang:
                    yield KEEP_ALIVE
                try:
                    receiver = self._calls.find(name)
                except NotFoundError:
                    return
                if receiver.edition != edition:
                    edition, seen = receiver.edition, 0
                    yield b"event: cleared\ndata: {}\n\n"
                for call in self._calls.after(name, seen):
                    seen = call.number
                    yield b"event: call\ndata: %s\n\n" % msgspec.json.encode(_line(call))
                now = msgspec.json.encode(self._shown(receiver))
                if now != said:
                    said = now
                    yield b"event: receiver\ndata: %s\n\n" % now


def _line(call: HeardWebhook) -> dict[str, Any]:
    return {
        "number": call.number,
        "type": _type_of(call),
        "webhook_id": call.webhook_id,
        "attempt": call.attempt,
        "since_last": call.since_last,
        "received_at": call.received_at,
        "signature": call.signature,
        "answer": call.answer,
        "body_bytes": call.body_bytes,
    }


def _whole(call: HeardWebhook) -> dict[str, Any]:
    return {
        **_line(call),
        "method": call.method,
        "headers": call.headers,
        "body": call.body.decode("utf-8", "replace"),
        "pretty": _pretty(call),
        "whole": call.is_whole,
    }


class _Typed(msgspec.Struct):
    type: str | None = None


def _type_of(call: HeardWebhook) -> str | None:
    """What the body says that it is; of a body in another form nothing."""
    try:
        return msgspec.json.decode(call.body, type=_Typed).type
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _pretty(call: HeardWebhook) -> str | None:
    """The body with its lines indented, its figures as they came."""
    try:
        return msgspec.json.format(call.body, indent=2).decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
