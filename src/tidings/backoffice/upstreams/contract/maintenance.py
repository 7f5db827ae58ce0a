"""`maintenance`: what is broken."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.backoffice.upstreams.contract.texts import Count, ShortText, UpstreamId

TicketStatus = Literal["open", "in_progress", "waiting", "resolved"]
TicketSeverity = Literal["low", "normal", "high", "urgent"]


class Ticket(Struct, frozen=True, kw_only=True):
    """Something to repair."""

    id: UpstreamId
    title: ShortText
    category: ShortText
    severity: TicketSeverity
    status: TicketStatus
    opened_at: datetime
    room: ShortText | None = None
    due_at: datetime | None = None
    assignee_id: UpstreamId | None = None
    #: Whether nobody can stay in the room until it is done.
    blocks_room: bool = False


class Tickets(Struct, frozen=True, kw_only=True):
    """Those that are open, and those that were resolved in the last day; the gravest first."""

    tickets: Annotated[list[Ticket], Meta(max_length=1000)]


class TicketSummary(Struct, frozen=True, kw_only=True):
    """How many tickets are in which state."""

    open: Count
    in_progress: Count
    waiting: Count
    resolved_today: Count
    urgent: Count
    overdue: Count
    rooms_blocked: Count
