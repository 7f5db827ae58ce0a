"""The vendor's endpoint of the http adapter: takes any JSON, answers as a vendor would."""

from collections import OrderedDict

from tidings.sandbox.answers import Answer, Hold, Request, json_answer
from tidings.sandbox.faults import Fault, Faults
from tidings.sandbox.reading import channel_of, join_request, read_object, recipients_of, sender_of
from tidings.sandbox.store import Store

_MOST_KEYS = 50_000
#: Headers that say nothing about the message.
_CONNECTION = frozenset(
    {"host", "connection", "content-length", "accept", "accept-encoding", "authorization"}
)


class Vendor:
    """Keeps each message once: a repeated Idempotency-Key gets the first answer again."""

    def __init__(self, store: Store, faults: Faults) -> None:
        self._store = store
        self._faults = faults
        self._seen: OrderedDict[str, str] = OrderedDict()

    def take(self, request: Request) -> Answer:
        """One request to `/http/…`."""
        fault = self._faults.strike("http")
        if fault is not None and (refusal := _refusal(fault)) is not None:
            return refusal
        key = request.headers.get("idempotency-key")
        known = self._seen.get(key) if key is not None else None
        message_id = known or self._keep(request)
        if key is not None and known is None:
            self._seen[key] = message_id
            if len(self._seen) > _MOST_KEYS:
                self._seen.popitem(last=False)
        accepted = json_answer({"id": message_id, "status": "accepted"}, status=202)
        if fault is None:
            return accepted
        hold = Hold(kind=fault.mode, seconds=fault.delay)  # type: ignore[arg-type]  # the refusals are gone
        return Answer(status=accepted.status, body=accepted.body, media_type=accepted.media_type, hold=hold)

    def forget(self) -> None:
        """No key was ever seen."""
        self._seen.clear()

    def _keep(self, request: Request) -> str:
        headers = {name: value for name, value in request.headers.items() if name not in _CONNECTION}
        body = read_object(request.body)
        message = self._store.add(
            adapter="http",
            channel=channel_of(request.path, body),
            sender=sender_of(body),
            to=recipients_of(body),
            raw=join_request(headers, request.body),
        )
        return message.id


def _refusal(fault: Fault) -> Answer | None:
    if fault.mode == "reject_permanent":
        error = {"code": "invalid_recipient", "message": "there is no such recipient"}
        return json_answer({"error": error}, status=400)
    if fault.mode == "reject_temporary":
        return json_answer({"error": {"code": "unavailable", "message": "try again later"}}, status=503)
    if fault.mode == "throttle":
        error = {"code": "rate_limited", "message": "too many requests, slow down"}
        return json_answer({"error": error}, status=429, headers={"retry-after": str(fault.retry_after)})
    return None
