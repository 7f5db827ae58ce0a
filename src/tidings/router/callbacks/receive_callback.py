"""The use case "a hook is called": is it the vendor, what does it say, keep it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from typing import Final, NoReturn

from tidings.contracts.callback_forms import (
    MOST_BYTES,
    CallbackForm,
    Challenges,
    HookReply,
    ParsedCallback,
    RawCallback,
    UnverifiedCallback,
)
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError, TidingsError
from tidings.kernel.http.errors import BadRequestError, BodyTooLargeError
from tidings.kernel.http.places import UNKNOWN
from tidings.kernel.refusals import InvalidError
from tidings.router.callbacks.errors import BadSignatureError, NoHookError
from tidings.router.callbacks.evidence import MOST_EVIDENCE_BYTES, Evidence
from tidings.router.callbacks.hooks import CallbackHook, CallbackHooks
from tidings.router.callbacks.intake import CallbackGroupCommit, IncomingCallback, IntakeResult
from tidings.router.callbacks.model import CallbackObserver
from tidings.router.callbacks.store import RequestStatus

#: Where there is no hook a signature is looked at all the same, against this.
_NOBODYS_KEYS: Final = {"secret": "whsec_" + "A" * 44}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """A request to a hook before its body is read."""

    method: str
    #: With the query, as it came.
    path: str = field(repr=False)
    headers: Mapping[str, Sequence[str]] = field(repr=False)
    read_body: Callable[[], Awaitable[bytes]] = field(repr=False)
    #: Where it comes from.
    place: str = field(default=UNKNOWN, repr=False)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CallbackEndpoint:
    """Takes callbacks in."""

    hooks: CallbackHooks
    intake: CallbackGroupCommit
    _: KW_ONLY
    #: Where vendors reach us.
    public_url: str
    #: The form that does its work where there is no hook.
    usual: CallbackForm
    clock: Clock
    evidence: Evidence
    observer: CallbackObserver = CallbackObserver()

    async def take(self, vendor: str, account_id: str, call: HookCall) -> IntakeResult | HookReply:
        """Keep what the request says; durable when this returns. Raises what its sender is told."""
        hook = await self.hooks.find(vendor, account_id, place=call.place)
        body = await call.read_body()
        if len(body) > MOST_BYTES:
            raise BodyTooLargeError(MOST_BYTES)
        request = RawCallback(
            method=call.method,
            url=self.public_url.rstrip("/") + call.path,
            headers=call.headers,
            body=body,
            received_at=self.clock.now(),
        )
        if hook is None:
            # As much work as for a hook that there is.
            with suppress(BadRequestError):
                await self.usual.verify(request, _NOBODYS_KEYS)
            self.observer.refused("", "unknown")
            raise NoHookError
        if call.method == "GET":
            return await self._challenged(hook, request)
        hook = await self._proven(hook, request)
        if isinstance(hook.form, Challenges):
            asked = await hook.form.challenge(request, hook.keys)
            if isinstance(asked, UnverifiedCallback):
                await self._refuse(hook, request, asked)
            if isinstance(asked, HookReply):
                return asked
        said = await self._reading(hook, request)
        taken = IntakeResult(accepted=0, repeated=0)
        if said.events or said.inbound:
            taken = await self.intake.take(
                vendor,
                IncomingCallback(
                    account_id=account_id,
                    signature_valid=True,
                    status="received",
                    reason=None,
                    body=body,
                    events=said.events,
                    inbound=said.inbound,
                ),
            )
        reply = said.reply or hook.form.reply
        return taken if reply is None else reply

    async def _challenged(self, hook: CallbackHook, request: RawCallback) -> HookReply:
        """The vendor asks whether a hook is there."""
        if not isinstance(hook.form, Challenges):
            raise NoHookError
        found = await hook.form.challenge(request, hook.keys)
        if isinstance(found, UnverifiedCallback) and found.code == "mismatch":
            fresh = await self.hooks.afresh(hook)
            if fresh is not None:
                found = await hook.form.challenge(request, fresh.keys)
        if isinstance(found, UnverifiedCallback):
            await self._refuse(hook, request, found)
        if not isinstance(found, HookReply):
            raise NoHookError
        return found

    async def _proven(self, hook: CallbackHook, request: RawCallback) -> CallbackHook:
        """The hook of the vendor that sent the request; its keys may have been changed a moment ago."""
        found = await hook.form.verify(request, hook.keys)
        if isinstance(found, UnverifiedCallback) and found.code == "mismatch":
            fresh = await self.hooks.afresh(hook)
            if fresh is not None:
                hook = fresh
                found = await hook.form.verify(request, hook.keys)
        if isinstance(found, UnverifiedCallback):
            await self._refuse(hook, request, found)
        return hook

    async def _reading(self, hook: CallbackHook, request: RawCallback) -> ParsedCallback:
        try:
            return hook.form.read(request, hook.keys)
        except (BadRequestError, InvalidError, BadValueError):
            # Signed and not understood: a vendor that words it otherwise now. An operator has to see that.
            await self._keep_refused(hook, request.body, signed=True, status="dlq", code="unreadable")
            raise

    async def _refuse(
        self, hook: CallbackHook, request: RawCallback, refusal: UnverifiedCallback
    ) -> NoReturn:
        await self._keep_refused(hook, request.body, signed=False, status="rejected", code=refusal.code)
        raise BadSignatureError(refusal.remedy)

    async def _keep_refused(
        self, hook: CallbackHook, body: bytes, *, signed: bool, status: RequestStatus, code: str
    ) -> None:
        self.observer.refused(hook.account.vendor, code)
        if not self.evidence.may_keep(hook.account.id):
            return
        evidence = IncomingCallback(
            account_id=hook.account.id,
            signature_valid=signed,
            status=status,
            reason=code,
            body=body if signed else body[:MOST_EVIDENCE_BYTES],
        )
        # A caller that signed badly is told so, whether or not we could keep what it sent.
        with suppress(TidingsError):
            await self.intake.take(hook.account.vendor, evidence)
