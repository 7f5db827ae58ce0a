"""`assistant`: what an AI suggests, and what people say to it."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from tidings.backoffice.upstreams.contract.texts import LongText, ShortText, UpstreamId


class SuggestionProvenance(Struct, frozen=True, kw_only=True):
    """What a suggestion was made by, and of what."""

    model: ShortText
    version: ShortText
    produced_at: datetime
    #: From 0 to 1.
    confidence: Annotated[float, Meta(ge=0.0, le=1.0)]
    #: Ids of what it looked at, such as `reservation:res_…`.
    sources: Annotated[list[ShortText], Meta(max_length=50)] = []


class UpstreamSuggestion(Struct, frozen=True, kw_only=True):
    """One suggestion."""

    id: UpstreamId
    category: UpstreamId
    severity: Literal["info", "warning", "critical"]
    title: ShortText
    body: LongText
    #: What would be done: names and values, of which a decision may change some.
    proposal: dict[str, str | int | float | bool | None]
    provenance: SuggestionProvenance
    status: Literal["open", "accepted", "rejected", "modified", "expired"]
    created_at: datetime
    expires_at: datetime


class UpstreamSuggestions(Struct, frozen=True, kw_only=True):
    """A page of them, the newest first."""

    suggestions: Annotated[list[UpstreamSuggestion], Meta(max_length=200)]
    next_cursor: Annotated[str, Meta(max_length=200)] | None = None


class SuggestionDecision(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What somebody decided. It goes with an Idempotency-Key; the same decision again changes nothing."""

    outcome: Literal["accepted", "rejected", "modified"]
    decided_by: UpstreamId
    decided_at: datetime
    #: For `modified`: what of the proposal is different.
    delta: dict[str, Any] | None = None


class SuggestionDecided(Struct, frozen=True, kw_only=True):
    """The suggestion afterwards. One that was decided otherwise, or has expired, is answered with 409."""

    id: UpstreamId
    status: Literal["accepted", "rejected", "modified"]
