"""The board of maintenance: what is broken, the gravest first."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tidings.backoffice.console.html import NOTHING, Child, Html, el, join
from tidings.backoffice.console.kit.marks import badge, empty, moment
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.visits import Visit
from tidings.backoffice.console.workbench.glance import ticket_tiles
from tidings.backoffice.console.workbench.names import severity_badge, ticket_badge

Ticket = Mapping[str, Any]


def tickets_board(visit: Visit, board: Mapping[str, Any]) -> Html:
    """Tickets that are open, and those of the last day that are done."""
    words = visit.words
    counts, tickets = board["ticket_counts"], board["tickets"]
    head = ticket_tiles(visit, board, counts) if counts is not None else NOTHING
    if tickets is None:
        return join(head, empty(words["workbench.missing"]))
    made_at = datetime.fromisoformat(board["made_at"])

    def due(ticket: Ticket) -> Child:
        late = (
            ticket["due_at"] is not None
            and ticket["status"] != "resolved"
            and datetime.fromisoformat(ticket["due_at"]) < made_at
        )
        shown = moment(ticket["due_at"])
        return el("span", shown, " ", badge(words["workbench.overdue"], "warn")) if late else shown

    def title(ticket: Ticket) -> Child:
        blocks = badge(words["workbench.blocks_room"], "bad") if ticket["blocks_room"] else NOTHING
        return el("span", el("span", ticket["title"], dir="auto"), " ", blocks)

    columns: list[Column[Ticket]] = [
        Column(words["workbench.column.ticket"], title, "grow"),
        Column(words["workbench.column.severity"], lambda one: severity_badge(words, one["severity"])),
        Column(words["workbench.column.room"], lambda one: el("bdi", one["room"] or "–")),
        Column(words["workbench.column.status"], lambda one: ticket_badge(words, one["status"])),
        Column(words["workbench.column.opened"], lambda one: moment(one["opened_at"])),
        Column(words["workbench.column.due"], due),
        Column(words["workbench.column.assignee"], lambda one: el("bdi", one["assignee_id"] or "–")),
    ]
    caption = words["workbench.view.maintenance"]
    return join(head, table(caption, columns, tickets, empty=empty(words["workbench.nothing_broken"])))
