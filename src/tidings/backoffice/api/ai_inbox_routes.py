"""Operations on suggestions of an AI: list, show, decide, tell again."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from tidings.backoffice.ai_inbox import store
from tidings.backoffice.ai_inbox.decide import SuggestionDecider
from tidings.backoffice.ai_inbox.deliver import DecisionDeliverer, DeliveryTimer
from tidings.backoffice.ai_inbox.errors import UnknownSuggestionError
from tidings.backoffice.ai_inbox.model import (
    AiDecision,
    AiEntry,
    DecisionOutcome,
    Delivery,
    Delta,
    EntryContent,
    EntryStatus,
    Severity,
    Source,
)
from tidings.backoffice.ai_inbox.read import AiInboxReader
from tidings.backoffice.attestations.attest import seat_of
from tidings.backoffice.ids import AiEntryId
from tidings.backoffice.notes.model import NoteText
from tidings.backoffice.preferences.errors import OperatorOfTenantError
from tidings.backoffice.properties.access import PropertyReach, check_property
from tidings.backoffice.views.properties import KnownProperties
from tidings.contracts.moments import Moment
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import AfterCommit, OpenTx, OwnerTx
from tidings.kernel.http.paging import PageQuery, Paging
from tidings.kernel.http.resources import Owner, Resource

ai_inbox = Resource("ai-inbox", at="/ai-inbox", tag="AI inbox", scope="ai_inbox", owner=Owner.OPERATOR)

_OF_TENANT: Final = ["operators_only", "operator_of_tenant"]


class ListSuggestions(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which suggestions to list."""

    property_id: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    category: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    status: Literal["open", "decided", "expired", "all"] = "open"


class DecideSuggestion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What somebody decides."""

    outcome: DecisionOutcome
    #: With `modified`: names of the proposal, each with another value.
    delta: Delta | None = None
    note: NoteText | None = None


class SuggestionView(Struct, frozen=True, kw_only=True):
    """A suggestion."""

    id: str
    #: `assistant`: the upstream service; `template`: a draft that waits for approval.
    source: Source
    suggestion_id: str
    property_id: str | None
    category: str
    severity: Severity
    status: EntryStatus
    title: str
    body: str
    proposal: dict[str, Any]
    provenance: dict[str, Any]
    suggested_at: Moment
    expires_at: Moment | None
    decided_at: Moment | None
    decided_by: str | None
    #: What they are called; null where they were erased.
    decided_by_name: str | None
    #: Whether the service that suggested it knows the decision.
    delivery: Delivery | None

    @classmethod
    def of(
        cls, entry: AiEntry, content: EntryContent, now: datetime, name: str | None = None
    ) -> "SuggestionView":
        """What is shown of it."""
        return cls(
            id=entry.id,
            source=entry.source,
            suggestion_id=entry.suggestion_id,
            property_id=entry.property_id,
            category=entry.category,
            severity=entry.severity,
            status=entry.status_at(now),
            title=content.title,
            body=content.body,
            proposal=content.proposal,
            provenance=content.provenance,
            suggested_at=entry.suggested_at,
            expires_at=entry.expires_at,
            decided_at=entry.decided_at,
            decided_by=entry.decided_by,
            decided_by_name=name,
            delivery=entry.delivery,
        )


class AwayView(Struct, frozen=True, kw_only=True):
    """A property of which the service gave no answer: what is shown of it may be old."""

    property_id: str
    reason: str


class SuggestionPage(Struct, frozen=True, kw_only=True):
    """Suggestions, the newest first."""

    items: list[SuggestionView]
    next_cursor: str | None
    #: Empty: all of it is of now.
    away: list[AwayView]


class RequeuedDecisions(Struct, frozen=True, kw_only=True):
    """How many decisions are told again."""

    requeued: int


@ai_inbox.get(problems=["property_not_found", *_OF_TENANT])
async def list_suggestions(
    query: ListSuggestions,
    caller: Caller,
    paging: Paging,
    open_tx: OpenTx[OwnerTx],
    reader: AiInboxReader,
    known: KnownProperties,
    clock: Clock,
) -> SuggestionPage:
    """List what an AI suggests, the newest first: of a property, or of all that you may see.

    The service that suggests is asked when it was not within the last minute. `away` names the properties of which it gave no
    answer.
    """
    seat_of(caller)
    if caller.tenant_id is None:
        raise OperatorOfTenantError
    if query.property_id is not None:
        check_property(caller, query.property_id)
        wanted = [query.property_id]
    else:
        wanted = [one.id for one in (await known.listed(caller)).properties]
    away = await reader.refresh(caller.tenant_id, wanted)
    async with open_tx() as tx:
        seen = await reader.list(
            _of_tenant(tx),
            reach=PropertyReach.of(caller),
            property_id=query.property_id,
            category=query.category,
            shows=query.status,
            after_id=paging.after_id,
            limit=paging.fetch,
        )
    now = clock.now()
    found = paging.page(
        seen,
        lambda one: SuggestionView.of(one.entry, one.content, now, one.decided_by),
        id_of=lambda one: one.entry.id,
    )
    return SuggestionPage(
        items=found.items,
        next_cursor=found.next_cursor,
        away=[AwayView(property_id=one, reason=why.reason) for one, why in sorted(away.items())],
    )


@ai_inbox.get("/{entry_id}", problems=["ai_suggestion_not_found", *_OF_TENANT])
async def show_suggestion(
    tx: OwnerTx,
    entry_id: AiEntryId,
    caller: Caller,
    decider: SuggestionDecider,
    reader: AiInboxReader,
    clock: Clock,
) -> SuggestionView:
    """Show a suggestion."""
    seat_of(caller)
    tenant_tx = _of_tenant(tx)
    entry = await store.find_entry(tenant_tx, entry_id)
    if entry is None or not PropertyReach.of(caller).holds(entry.property_id):
        raise UnknownSuggestionError
    content = await decider.content(tenant_tx, entry)
    names = await reader.names(tenant_tx, [entry])
    return SuggestionView.of(entry, content, clock.now(), names.get(entry.decided_by or ""))


@ai_inbox.post(
    "/{entry_id}/decide",
    idempotent=True,
    problems=[
        "ai_suggestion_not_found",
        "ai_suggestion_decided",
        "ai_suggestion_expired",
        "approver_is_requester",
        *_OF_TENANT,
    ],
)
async def decide_suggestion(
    tx: OwnerTx,
    entry_id: AiEntryId,
    body: DecideSuggestion,
    caller: Caller,
    decider: SuggestionDecider,
    timer: DeliveryTimer,
    clock: Clock,
    after_commit: AfterCommit,
) -> SuggestionView:
    """Accept, reject or change a suggestion; the first decision counts, and is kept for seven years with its provenance.

    `modified` names what of the proposal is different. Of a note the first 200 characters are kept, sealed. The service that
    suggested it is told after the commit; a draft of a template is approved, or put away, at once, which needs `templates:write`.
    """
    seat_of(caller)
    tenant_tx = _of_tenant(tx)
    after_commit(lambda: timer.expect(clock.now()))
    decision = AiDecision(outcome=body.outcome, delta=body.delta, note=body.note)
    entry, content = await decider.decide(tenant_tx, caller, entry_id, decision)
    return SuggestionView.of(entry, content, clock.now())


@ai_inbox.post("/deliveries/requeue", idempotent=True, problems=_OF_TENANT)
async def requeue_decisions(
    tx: OwnerTx,
    caller: Caller,
    deliverer: DecisionDeliverer,
    timer: DeliveryTimer,
    clock: Clock,
    after_commit: AfterCommit,
) -> RequeuedDecisions:
    """Tell the service again of decisions that it could not be told for half a day."""
    seat_of(caller)
    after_commit(lambda: timer.expect(clock.now()))
    return RequeuedDecisions(requeued=await deliverer.requeue(_of_tenant(tx), actor=caller.actor))


def _of_tenant(tx: OwnerTx) -> TenantTx:
    if not isinstance(tx, TenantTx):
        raise OperatorOfTenantError
    return tx
