"""Properties, their dashboards and the boards of their workbench."""

import datetime
from bisect import bisect_right
from typing import Annotated, Final

from msgspec import Meta, Struct

from tidings.backoffice.attestations.attest import seat_of
from tidings.backoffice.properties.access import check_property
from tidings.backoffice.views.model import (
    BOARDS,
    BoardName,
    BoardView,
    DashboardView,
    MissingUpstream,
    PropertyView,
)
from tidings.backoffice.views.properties import KnownProperties
from tidings.backoffice.views.read import PropertyViews
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.callers import ANY_CALLER, Caller
from tidings.kernel.http.injection import Parsed
from tidings.kernel.http.resources import Owner, Resource

properties = Resource("properties", at="/properties", tag="properties", owner=Owner.OPERATOR)

#: What it says of people is of a moment, and is kept by no browser.
_NO_STORE: Final = {"Cache-Control": "no-store"}


class ListProperties(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which page is wanted."""

    limit: Annotated[int, Meta(ge=1, le=200, description="How many items at most.")] = 100
    #: `next_cursor` of the page before; left out for the first one.
    cursor: Annotated[str, Meta(max_length=64)] = ""


class PropertyList(Struct, frozen=True, kw_only=True):
    """Properties by their ids."""

    items: list[PropertyView]
    #: Null on the last page.
    next_cursor: str | None
    #: Why names are missing; null where they are not.
    missing: MissingUpstream | None


class ShowBoard(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of which day."""

    #: Arrivals and departures of another day than today; `2026-11-19`.
    date: datetime.date | None = None


def _board(text: str) -> BoardName:
    for name in BOARDS:
        if name == text:
            return name
    raise BadValueError("view", f"must be one of {', '.join(BOARDS)}")


@properties.get("", scope=ANY_CALLER, problems=["operators_only", "needs_tenant"])
async def list_properties(query: ListProperties, caller: Caller, known: KnownProperties) -> PropertyList:
    """List the properties that you have a right to, by their ids.

    Names come from the upstream service `reservations`; while it does not answer, `missing` says so and only ids that your rights
    name are listed.
    """
    seat_of(caller)
    found = await known.listed(caller)
    ids = [one.id for one in found.properties]
    first = bisect_right(ids, query.cursor) if query.cursor else 0
    shown = list(found.properties[first : first + query.limit])
    more = first + query.limit < len(ids)
    return PropertyList(items=shown, next_cursor=shown[-1].id if more else None, missing=found.missing)


@properties.get(
    "/{property_id}/dashboard",
    verb="show_dashboard",
    scope=ANY_CALLER,
    answer=DashboardView,
    problems=["operators_only", "property_not_found"],
)
async def show_dashboard(property_id: str, caller: Caller, views: PropertyViews) -> Reply:
    """Show a property at a glance, as far as your role looks after it; half a minute old at most.

    `partial` is true while an upstream service does not answer: `missing` names it, and its section is null.
    """
    seat_of(caller)
    body = await views.dashboard(check_property(caller, property_id), caller.role)
    return Reply(body=body, headers=_NO_STORE)


@properties.get(
    "/{property_id}/workbench/{view}",
    verb="show_board",
    scope=ANY_CALLER,
    answer=BoardView,
    problems=["operators_only", "property_not_found", "bad_value"],
)
async def show_board(
    property_id: str,
    view: Annotated[str, Parsed(_board)],
    query: ShowBoard,
    caller: Caller,
    views: PropertyViews,
) -> Reply:
    """Show a board of the workbench: `today`, `arrivals`, `departures`, `in-house`, `housekeeping` or `maintenance`.

    It is a quarter of a minute old at most. `partial` is true while an upstream service does not answer: `missing` names it, and
    what it would have said is null.
    """
    seat_of(caller)
    access = check_property(caller, property_id)
    return Reply(body=await views.board(access, _board(view), query.date), headers=_NO_STORE)
