"""The use case "somebody calls a hook": is it the vendor, what does it say, keep it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError, TidingsError
from tidings.kernel.http.errors import BadRequestError, BodyTooLargeError
from tidings.kernel.refusals import InvalidError
from tidings.router.callbacks.errors import BadSignatureError, NoHookError
from tidings.router.callbacks.evidence import MOST_EVIDENCE_BYTES, Evidence
from tidings.router.callbacks.forms import FORMS
from tidings.router.callbacks.hooks import Hook, Hooks
from tidings.router.callbacks.intake import Incoming, Intake, Taken
from tidings.router.callbacks.model import MOST_BYTES, Observer, RawCallback, ReadEvent, Refusal, Unobserved
from tidings.router.callbacks.store import RequestStatus

#: Where there is no hook a signature is looked at all the same, against this.
_NOBODYS_SECRET: Final = "whsec_" + "A" * 44
_SOME_FORM: Final = next(iter(FORMS.values()))


class HookDesk:
    """Takes callbacks in."""

    def __init__(
        self,
        hooks: Hooks,
        intake: Intake,
        *,
        clock: Clock,
        evidence: Evidence,
        observer: Observer | None = None,
    ) -> None:
        self._hooks = hooks
        self._intake = intake
        self._clock = clock
        self._evidence = evidence
        self._observer = observer or Unobserved()

    async def take(
        self,
        vendor: str,
        account_id: str,
        headers: Mapping[str, Sequence[str]],
        read_body: Callable[[], Awaitable[bytes]],
    ) -> Taken:
        """Keep what the request says; durable when this returns. Raises what its sender is told."""
        hook = await self._hooks.find(vendor, account_id)
        body = await read_body()
        if len(body) > MOST_BYTES:
            raise BodyTooLargeError(MOST_BYTES)
        request = RawCallback(headers=headers, body=body, received_at=self._clock.now())
        if hook is None:
            # As much work as for a hook that there is.
            with suppress(BadRequestError):
                _SOME_FORM.verify(request, _NOBODYS_SECRET)
            self._observer.refused("", "unknown")
            raise NoHookError
        refusal = await self._refusal(hook, request)
        if refusal is not None:
            await self._keep_refused(hook, body, signed=False, status="rejected", code=refusal.code)
            raise BadSignatureError(refusal.remedy)
        events = await self._events(hook, request)
        if not events:
            return Taken(accepted=0, repeated=0)
        return await self._intake.take(
            vendor,
            Incoming(
                account_id=account_id,
                signature_valid=True,
                status="received",
                reason=None,
                body=body,
                events=events,
            ),
        )

    async def _refusal(self, hook: Hook, request: RawCallback) -> Refusal | None:
        """Why the request is not the vendor's; the secret may have been changed a moment ago."""
        found = hook.form.verify(request, hook.secret)
        if isinstance(found, Refusal) and found.code == "mismatch":
            fresh = await self._hooks.afresh(hook)
            if fresh is not None:
                found = fresh.form.verify(request, fresh.secret)
        return found if isinstance(found, Refusal) else None

    async def _events(self, hook: Hook, request: RawCallback) -> list[ReadEvent]:
        try:
            return hook.form.read(request.body, received_at=request.received_at)
        except (BadRequestError, InvalidError, BadValueError):
            # Signed and not understood: a vendor that words it otherwise now. Somebody has to see that.
            await self._keep_refused(hook, request.body, signed=True, status="dlq", code="unreadable")
            raise

    async def _keep_refused(
        self, hook: Hook, body: bytes, *, signed: bool, status: RequestStatus, code: str
    ) -> None:
        self._observer.refused(hook.account.vendor, code)
        if not self._evidence.may_keep(hook.account.id):
            return
        evidence = Incoming(
            account_id=hook.account.id,
            signature_valid=signed,
            status=status,
            reason=code,
            body=body if signed else body[:MOST_EVIDENCE_BYTES],
        )
        # Whoever signed badly is told so, whether or not we could keep what they sent.
        with suppress(TidingsError):
            await self._intake.take(hook.account.vendor, evidence)
