"""The vendors' endpoints of the http adapter: each takes any JSON and answers as a vendor would."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from tidings.kernel.refusals import NotFoundError
from tidings.sandbox.faults import FaultEffect, Faults
from tidings.sandbox.http_messages import HeldResponse, SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.reading import channel_of, join_request, read_object, recipients_of, sender_of
from tidings.sandbox.receipt_sender import ReceiptSender
from tidings.sandbox.scripts import ReceiptScripts
from tidings.sandbox.store import Store

_MOST_KEYS = 50_000
#: Headers that say nothing about the message.
_CONNECTION = frozenset(
    {"host", "connection", "content-length", "accept", "accept-encoding", "authorization"}
)


@dataclass(slots=True, eq=False, repr=False)
class HttpVendors:
    """Keep each message once: a repeated Idempotency-Key gets the first answer again."""

    store: Store
    faults: Faults
    scripts: ReceiptScripts
    postman: ReceiptSender
    _seen: OrderedDict[tuple[str, str, str], str] = field(default_factory=OrderedDict, init=False)

    def take(self, vendor: str, request: SandboxRequest) -> SandboxResponse:
        """One message to the vendor of this name."""
        fault = self.faults.strike("http", vendor)
        if fault is not None and (refusal := _refusal(fault)) is not None:
            return refusal
        body = read_object(request.body)
        channel = channel_of(request.path, body)
        key = (vendor, channel, request.headers.get("idempotency-key", ""))
        message_id = self._seen.get(key) if key[2] else None
        if message_id is None:
            if self.postman.full:
                return _FULL
            to = recipients_of(body)
            script = self.scripts.strike(vendor=vendor, channel=channel, addresses=to)
            if script.refuses:
                return _REFUSED
            message_id = self._keep(vendor, channel, to, request, body)
            self.postman.plan(message_id, vendor, script)
            self._remember(key, message_id)
        accepted = json_answer({"id": message_id, "status": "accepted"}, status=202)
        if fault is None:
            return accepted
        hold = HeldResponse(kind=fault.mode, seconds=fault.delay)  # type: ignore[arg-type]  # the refusals are gone
        return SandboxResponse(
            status=accepted.status, body=accepted.body, media_type=accepted.media_type, hold=hold
        )

    def cancel(self, vendor: str, message_id: str) -> SandboxResponse:
        """Call a message back, as long as no receipt was sent."""
        in_time = self.postman.cancel(vendor, message_id)
        if in_time is None:
            raise NotFoundError("there is no such message, or it had to make room for newer ones")
        if not in_time:
            error = {"code": "too_late", "message": "it is on its way already"}
            return json_answer({"error": error}, status=409)
        return json_answer({"id": message_id, "status": "cancelled"})

    def forget(self) -> None:
        """No key was ever seen."""
        self._seen.clear()

    def _remember(self, key: tuple[str, str, str], message_id: str) -> None:
        if key[2]:
            self._seen[key] = message_id
            if len(self._seen) > _MOST_KEYS:
                self._seen.popitem(last=False)

    def _keep(
        self, vendor: str, channel: str, to: tuple[str, ...], request: SandboxRequest, body: dict[str, Any]
    ) -> str:
        headers = {name: value for name, value in request.headers.items() if name not in _CONNECTION}
        message = self.store.add(
            adapter="http",
            vendor=vendor,
            channel=channel,
            sender=sender_of(body),
            to=to,
            raw=join_request(headers, request.body),
        )
        return message.id


_FULL = json_answer(
    {"error": {"code": "unavailable", "message": "too many receipts are waiting; shorten the scripts"}},
    status=503,
)
_REFUSED = json_answer(
    {"error": {"code": "rejected", "message": "the vendor does not write to this recipient"}}, status=400
)


def _refusal(fault: FaultEffect) -> SandboxResponse | None:
    if fault.mode == "reject_permanent":
        error = {"code": "invalid_recipient", "message": "there is no such recipient"}
        return json_answer({"error": error}, status=400)
    if fault.mode == "reject_temporary":
        return json_answer({"error": {"code": "unavailable", "message": "try again later"}}, status=503)
    if fault.mode == "throttle":
        error = {"code": "rate_limited", "message": "too many requests, slow down"}
        return json_answer({"error": error}, status=429, headers={"retry-after": str(fault.retry_after)})
    return None
