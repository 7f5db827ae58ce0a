"""How the sandbox is told to behave: faults, scripts, hooks, and what people write back."""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from tidings.contracts.tenants import Channel
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import decode, decode_query
from tidings.kernel.http.errors import NoRouteError, WrongMethodError
from tidings.sandbox.faults import PROPERTY_MODES, RECEIVER_MODES, Adapter, Faults, FaultSpec
from tidings.sandbox.hooks import SandboxHook, SandboxHooks
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.inbound_replies import InboundReplies
from tidings.sandbox.scripts import MAGIC, NAMES, ReceiptScripts, ScriptSpec

#: Every place that is not found by its whole path, with what may be done there.
_KNOWN = {
    "": ("GET",),
    "messages": ("GET", "DELETE"),
    "faults": ("GET", "POST", "DELETE"),
    "scripts": ("GET", "DELETE"),
    "hooks": ("GET",),
    "http": ("POST",),
}


class _Which(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which faults are over; all, where nothing is said."""

    adapter: Adapter | None = None
    vendor: str | None = None


class _Wrote(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person writes to a vendor's number or account."""

    from_: Annotated[str, Meta(min_length=1, max_length=320)] = msgspec.field(name="from")
    to: Annotated[str, Meta(min_length=1, max_length=320)]
    text: Annotated[str, Meta(max_length=20_000)]
    channel: Channel = "sms"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Controls:
    """Answers the requests that change how it behaves."""

    faults: Faults
    scripts: ReceiptScripts
    hooks: SandboxHooks
    replies: InboundReplies

    def handle(self, request: SandboxRequest, steps: list[str]) -> SandboxResponse:
        """One request that no other part has taken."""
        match (request.method, *steps):
            case ("POST", "faults"):
                self.faults.set(_fault(request.body))
                return json_answer({"faults": self.faults.standing()}, status=201)
            case ("GET", "faults"):
                return json_answer({"faults": self.faults.standing()})
            case ("DELETE", "faults"):
                which = decode_query(request.query, _Which)
                self.faults.clear(which.adapter, which.vendor)
                return json_answer({"faults": self.faults.standing()})
            case ("GET", "scripts"):
                return self._show_scripts()
            case ("PUT", "scripts", name):
                self.scripts.set(name, decode(request.body, ScriptSpec))
                return self._show_scripts()
            case ("DELETE", "scripts"):
                self.scripts.clear()
                return self._show_scripts()
            case ("DELETE", "scripts", name):
                self.scripts.end(name)
                return self._show_scripts()
            case ("GET", "hooks"):
                return json_answer({"hooks": self.hooks.urls()})
            case ("PUT", "hooks", vendor):
                self.hooks.set(vendor, decode(request.body, SandboxHook))
                return json_answer({"hooks": self.hooks.urls()})
            case ("DELETE", "hooks", vendor):
                self.hooks.end(vendor)
                return json_answer({"hooks": self.hooks.urls()})
            case ("POST", "inbound", vendor):
                return SandboxResponse(later=self._write_back(vendor, decode(request.body, _Wrote)))
        raise _nothing_here(steps)

    async def _write_back(self, vendor: str, wrote: _Wrote) -> SandboxResponse:
        said_id, answer = await self.replies.write(
            vendor, channel=wrote.channel, sender=wrote.from_, to=wrote.to, text=wrote.text
        )
        return json_answer({"id": said_id, "answer": answer})

    def _show_scripts(self) -> SandboxResponse:
        standing: dict[str, Any] = msgspec.to_builtins(self.scripts.standing())
        return json_answer({"scripts": standing, "names": NAMES, "numbers": MAGIC})


def _fault(body: bytes) -> FaultSpec:
    wish = decode(body, FaultSpec)
    if wish.vendor is not None and wish.adapter not in ("http", "receiver", "property"):
        raise BadValueError(
            "vendor", "goes with http, receiver and property; mail and SMPP have one vendor only"
        )
    if wish.adapter == "property":
        if wish.mode not in PROPERTY_MODES:
            raise BadValueError("mode", f"of property must be one of {', '.join(sorted(PROPERTY_MODES))}")
        return wish
    if wish.mode == "wrong_schema":
        raise BadValueError("mode", "is an answer of an upstream service; it goes with the adapter property")
    if wish.mode in RECEIVER_MODES and wish.adapter != "receiver":
        raise BadValueError(
            "mode", "is an answer of a receiver of webhooks; it goes with the adapter receiver"
        )
    return wish


def _nothing_here(steps: list[str]) -> Exception:
    return WrongMethodError(_KNOWN[steps[0]]) if steps[0] in _KNOWN and len(steps) == 1 else NoRouteError()
