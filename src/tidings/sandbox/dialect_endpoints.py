"""Vendors' real protocols: takes what is sent to one, and answers in its dialect."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from tidings.sandbox.dialects.dialect import Dialect, SubmittedMessage, Trouble
from tidings.sandbox.faults import FaultEffect, Faults, Mode
from tidings.sandbox.http_messages import HeldResponse, SandboxRequest, SandboxResponse
from tidings.sandbox.reading import found_words, join_request, read_body
from tidings.sandbox.receipt_format import ReceiptFormat
from tidings.sandbox.receipt_sender import ReceiptSender
from tidings.sandbox.scripts import ReceiptScripts
from tidings.sandbox.store import MessageText, Store

_MOST_KEYS = 50_000
#: Headers that say nothing about the message.
_CONNECTION: Final = frozenset(
    {"host", "connection", "content-length", "accept", "accept-encoding", "authorization", "user-agent"}
)
#: Headers in which a vendor's credentials travel.
_CREDENTIALS: Final = frozenset({"x-viber-auth-token", "x-postmark-server-token", "x-amz-security-token"})
#: Faults with which the vendor says no → what it says.
_TROUBLES: Final[dict[Mode, Trouble]] = {
    "reject_permanent": "invalid_recipient",
    "reject_temporary": "unavailable",
    "throttle": "throttled",
}


@dataclass(slots=True, eq=False, repr=False)
class DialectEndpoints:
    """Keep each message once: where the vendor knows a repeat, it gets the first answer again."""

    store: Store
    faults: Faults
    scripts: ReceiptScripts
    postman: ReceiptSender
    wording: ReceiptFormat
    _seen: OrderedDict[tuple[str, str, str], str] = field(default_factory=OrderedDict, init=False)

    def know(self, vendor: str) -> bool:
        """Whether the vendor of this name has a protocol of its own: `twilio`, `twilio_backup`."""
        return self.wording.dialect_of(vendor) is not None

    def take(self, vendor: str, request: SandboxRequest) -> SandboxResponse:
        """One request to the vendor of this name."""
        dialect = self.wording.dialect_of(vendor)
        if dialect is None:
            return SandboxResponse(status=404)
        path = "/" + request.path.strip("/").partition("/")[2]
        said = replace(request, path=path)
        asked = dialect.read(said)
        if isinstance(asked, SandboxResponse):
            return asked
        fault = self.faults.strike("http", vendor)
        if fault is not None and fault.mode in _TROUBLES:
            wait = fault.retry_after if fault.mode == "throttle" else None
            return dialect.refused(asked, _TROUBLES[fault.mode], wait)
        found = self._taken(vendor, dialect, asked, said)
        return found if fault is None else _held(found, fault)

    def forget(self) -> None:
        """No key was ever seen."""
        self._seen.clear()

    def _taken(
        self, vendor: str, dialect: Dialect, asked: SubmittedMessage, request: SandboxRequest
    ) -> SandboxResponse:
        key = (vendor, asked.channel, asked.key)
        message_id = self._seen.get(key) if asked.key else None
        if message_id is None:
            if self.postman.full:
                return dialect.refused(asked, "unavailable", None)
            script = self.scripts.strike(vendor=vendor, channel=asked.channel, addresses=_spellings(asked.to))
            if script.refuses:
                return dialect.refused(asked, "blocked", None)
            message_id = self._keep(vendor, dialect.name, asked, request)
            self.postman.plan(message_id, vendor, script)
            self._remember(key, message_id)
        return dialect.accepted(asked, message_id)

    def _remember(self, key: tuple[str, str, str], message_id: str) -> None:
        if key[2]:
            self._seen[key] = message_id
            if len(self._seen) > _MOST_KEYS:
                self._seen.popitem(last=False)

    def _keep(self, vendor: str, adapter: str, asked: SubmittedMessage, request: SandboxRequest) -> str:
        left_out = _CONNECTION | _CREDENTIALS
        headers = {name: value for name, value in request.headers.items() if name not in left_out}
        words = MessageText(subject=asked.subject, text=asked.text, html=asked.html)
        if words == MessageText():
            words = found_words(read_body(request.headers, request.body))
        message = self.store.add(
            adapter=adapter,
            vendor=vendor,
            channel=asked.channel,
            sender=asked.sender,
            to=asked.to,
            raw=join_request(headers, request.body),
            words=words,
        )
        return message.id


def _spellings(addresses: Iterable[str]) -> list[str]:
    """As they came, and a number without its plus with it: scripts are set for numbers as people write them.

    A device's token that is a number behind zeros is that number, too.
    """
    found = list(addresses)
    return found + [f"+{one.lstrip('0')}" for one in found if one.isascii() and one.isdecimal()]


def _held(answer: SandboxResponse, fault: FaultEffect) -> SandboxResponse:
    """The answer as the fault lets it through."""
    hold = HeldResponse(kind=fault.mode, seconds=fault.delay)  # type: ignore[arg-type]  # the refusals are gone
    return replace(answer, hold=hold)
