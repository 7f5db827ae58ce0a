"""What a voice gateway tells of its calls: our own words, signed as Standard Webhooks are."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final

from msgspec import Meta, Struct

from tidings.contracts.callback_forms import (
    Canonical,
    HookReply,
    Keys,
    ParsedCallback,
    RawCallback,
    ReadEvent,
    VendorCost,
)
from tidings.contracts.callbacks import MOST_EVENTS, CallbackCost
from tidings.contracts.moments import ToldMoment
from tidings.kernel.http.bodies import decode
from tidings.kernel.mapping import by_name
from tidings.router.adapters.callbacks.parsing import in_utc
from tidings.router.adapters.callbacks.standard_webhooks import StandardWebhooks
from tidings.router.adapters.callbacks.status_events import status_event
from tidings.router.adapters.redaction import kept_code, kept_words

#: Their word → ours. Who has answered is listening: nothing more is tried meanwhile.
WORDS: Final[Mapping[str, Canonical]] = {
    "queued": "accepted",
    "ringing": "sent",
    "answered": "delivered",
    "completed": "delivered",
    "no_answer": "failed_temp",
    "busy": "failed_temp",
    "failed": "failed_perm",
}
#: Words that are looked up in the status map as codes are.
_CODES: Final = frozenset({"no_answer", "busy"})
_Id = Annotated[str, Meta(min_length=1, max_length=200)]


class CallEvent(Struct, frozen=True, kw_only=True):
    """One thing that happened to one call. Fields that are not known here are left aside."""

    #: The gateway's name for this event: the same when it is told again.
    id: _Id
    #: The gateway's name for the call, as it answered when the call was asked for.
    call_id: _Id
    status: Annotated[str, Meta(min_length=1, max_length=60)]
    occurred_at: ToldMoment | None = None
    #: How long the person listened.
    duration_seconds: Annotated[float, Meta(ge=0, le=86_400)] | None = None
    code: Annotated[str, Meta(max_length=200)] | None = None
    reason: Annotated[str, Meta(max_length=4000)] | None = None
    #: What the whole call costs.
    cost: CallbackCost | None = None


class CallEvents(Struct, frozen=True, kw_only=True):
    """The body of a request."""

    events: Annotated[list[CallEvent], Meta(max_length=MOST_EVENTS)]


class VoiceOtpForm(StandardWebhooks):
    """Reads what docs/vendors/voice-otp-gateway.md describes."""

    name = "voice_otp_gateway"
    reply: HookReply | None = None

    def read(self, request: RawCallback, _: Keys) -> ParsedCallback:
        """The events, in the order in which they stand."""
        events = decode(request.body, CallEvents).events
        return ParsedCallback(events=[_event(event, request.received_at) for event in events])


def _event(event: CallEvent, received_at: datetime) -> ReadEvent:
    word = event.status.lower()
    said = kept_words(event.reason)
    if said is None and event.duration_seconds is not None:
        said = f"lasted {event.duration_seconds:g} s"
    return status_event(
        message_id=event.call_id,
        word=word,
        status=WORDS.get(word, "unknown"),
        at=in_utc(event.occurred_at),
        discriminator=event.id,
        received_at=received_at,
        code=kept_code(event.code) or (word if word in _CODES else None),
        reason=said,
        cost=by_name(VendorCost, event.cost) if event.cost is not None else None,
    )
