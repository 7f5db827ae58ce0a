"""A suggestion as it stands in the inbox, and what somebody decides; no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from tidings.backoffice.ids import AiEntryId, DecisionId
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId

Source: TypeAlias = Literal["assistant", "template"]
EntryStatus: TypeAlias = Literal["open", "accepted", "rejected", "modified", "expired"]
Severity: TypeAlias = Literal["info", "warning", "critical"]
DecisionOutcome: TypeAlias = Literal["accepted", "rejected", "modified"]
#: Whether the service that suggested it knows the decision.
Delivery: TypeAlias = Literal["waiting", "delivered", "refused", "dead"]

#: After this the service is asked again.
FRESH: Final = timedelta(seconds=60)
#: How long a suggestion is shown after its end.
KEPT: Final = timedelta(days=30)
#: The category of drafts of templates.
DRAFT_CATEGORY: Final = "template_draft"

_Name = Annotated[str, Meta(min_length=1, max_length=100)]
_Text = Annotated[str, Meta(max_length=1_000)]
#: What of a proposal is different.
Delta = Annotated[dict[_Name, _Text | int | float | bool | None], Meta(max_length=50)]


class EntryContent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is suggested, and where it comes from; sealed."""

    title: str
    body: str = ""
    #: Names and values, of which a decision may change some.
    proposal: dict[str, Any] = {}
    provenance: dict[str, Any]

    def encoded(self) -> str:
        """As it is sealed."""
        return msgspec.json.encode(self).decode()


read_content = msgspec.json.Decoder(EntryContent).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class AiEntry:
    """A suggestion as it is kept."""

    id: AiEntryId
    tenant_id: TenantId
    source: Source
    suggestion_id: str
    #: None: it is about the whole tenant.
    property_id: str | None
    category: str
    severity: Severity
    status: EntryStatus
    content_ciphertext: bytes = field(repr=False)
    suggested_at: datetime
    expires_at: datetime | None
    decided_at: datetime | None = None
    decided_by: str | None = None
    closed_at: datetime | None = None
    delivery: Delivery | None = None

    def status_at(self, now: datetime) -> EntryStatus:
        """Where it stands: its time is over at its time, and not when a sweeper comes by."""
        is_over = self.status == "open" and self.expires_at is not None and self.expires_at <= now
        return "expired" if is_over else self.status


@dataclass(frozen=True, slots=True, kw_only=True)
class AiDecision:
    """What somebody decides."""

    outcome: DecisionOutcome
    delta: Mapping[str, Any] | None = None
    note: str | None = field(default=None, repr=False)

    def check(self, entry: AiEntry, content: EntryContent) -> None:
        """A `BadValueError` where it does not fit the suggestion."""
        if self.outcome != "modified":
            if self.delta:
                raise BadValueError("delta", "is for `modified` alone; leave it out")
            return
        if entry.source == "template":
            raise BadValueError(
                "outcome", "must be accepted or rejected; change the draft where templates are written"
            )
        if not self.delta:
            raise BadValueError("delta", "is required with `modified`: what of the proposal is different")
        unknown = sorted(self.delta.keys() - content.proposal.keys())
        if unknown:
            known = ", ".join(sorted(content.proposal)) or "nothing"
            raise BadValueError("delta", f"may name what the proposal has: {known}")
        if all(content.proposal[name] == value for name, value in self.delta.items()):
            raise BadValueError("delta", "changes nothing; accept the suggestion instead")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedDecision:
    """A decision as the ledger keeps it."""

    id: DecisionId
    property_id: str | None
    suggestion_id: str
    inbox_entry_id: AiEntryId
    category: str
    severity: Severity
    outcome: DecisionOutcome
    decided_by: str
    device_id: str
    note_id: str | None
    delta_ciphertext: bytes | None = field(repr=False)
    provenance_ciphertext: bytes = field(repr=False)
