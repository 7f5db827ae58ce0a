"""A board in its frame: which property, which board, which day, and what is missing."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import NOTHING, Child, Html, el, filled, join
from tidings.backoffice.console.kit.forms import button, hidden, select_field, text_field
from tidings.backoffice.console.kit.marks import empty, moment, note, tabs
from tidings.backoffice.console.kit.tables import address
from tidings.backoffice.console.visits import Visit
from tidings.backoffice.console.workbench.desk_board import stays_board, today_board
from tidings.backoffice.console.workbench.glance import glance
from tidings.backoffice.console.workbench.names import BOARDS, DATED, GLANCE, HERE, board_path, view_name
from tidings.backoffice.console.workbench.rooms_board import rooms_board
from tidings.backoffice.console.workbench.tickets_board import tickets_board
from tidings.kernel.http.answers import Reply

#: Seconds after which the script asks for a board anew; it is never older than that.
_SECONDS: Final = 15


def board_page(
    visit: Visit, properties: Sequence[Mapping[str, Any]], view: str, board: Mapping[str, Any]
) -> Reply:
    """One board of one property."""
    words = visit.words
    of = board["property"]
    body = join(
        _chooser(visit, properties, view, board),
        tabs(
            words["workbench.boards"],
            *((view_name(words, one), board_path(of["id"], one), one == view) for one in BOARDS),
        ),
        el(
            "div",
            _missing(visit, board["missing"]),
            _shown(visit, view, board),
            el("p", filled(words["workbench.as_of"], at=moment(board["made_at"])), class_="soft"),
            id="board",
            class_="dense",
            data_live=_SECONDS,
        ),
    )
    heading = f"{of['name'] or of['id']}: {view_name(words, view)}"
    return page(words, heading, body, reader=visit.reader, here=HERE, wide=True)


def nothing_page(visit: Visit, missing: Mapping[str, Any] | None) -> Reply:
    """There is no property to show: why, and what to do."""
    words = visit.words
    if missing is not None:
        body: Child = [_missing(visit, [missing]), empty(words["workbench.nothing_known"])]
    else:
        link = (
            el("a", words["place.operators"], href="/console/operators", class_="button quiet")
            if visit.may("operators:read")
            else None
        )
        body = empty(words["workbench.no_property"], words["workbench.no_property_hint"], link)
    inside = el("div", body, id="board", data_live=_SECONDS)
    return page(words, words["place.workbench"], inside, reader=visit.reader, here=HERE)


def _shown(visit: Visit, view: str, board: Mapping[str, Any]) -> Html:
    match view:
        case "glance":
            return glance(visit, board)
        case "today":
            return today_board(visit, board)
        case "housekeeping":
            return rooms_board(visit, board)
        case "maintenance":
            return tickets_board(visit, board)
    return stays_board(visit, view, board)


def _chooser(
    visit: Visit, properties: Sequence[Mapping[str, Any]], view: str, board: Mapping[str, Any]
) -> Html:
    words = visit.words
    here = board["property"]
    known = {one["id"]: one["name"] or one["id"] for one in properties}
    known.setdefault(here["id"], here["name"] or here["id"])
    fields: list[Child] = [
        hidden("view", view),
        select_field("property", words["workbench.property"], list(known.items()), here["id"]),
    ]
    if view in DATED:
        fields.append(
            text_field("date", words["workbench.date"], board["date"], kind="date", dir="ltr", required=True)
        )
    send = el("div", button(words["workbench.show"], "quiet"), class_="actions unscripted")
    form = el("form", fields, send, action=HERE, class_="filters", data_auto=True, role="search")
    if view in DATED and visit.query.get("date"):
        today = el("a", words["workbench.back_to_today"], href=board_path(here["id"], view))
        return join(form, el("p", today))
    return form


def _missing(visit: Visit, missing: Sequence[Mapping[str, Any]]) -> Html:
    """Which services did not answer, in words that say what that means and what to do."""
    words = visit.words
    if not missing:
        return NOTHING
    lines: list[Child] = []
    for one in missing:
        name = words[f"workbench.upstream.{one['upstream']}"]
        if one["reason"] == "not_connected":
            setting = f"TIDINGS_UPSTREAM_{one['upstream'].upper()}_URL"
            lines.append(
                el("li", filled(words["workbench.not_connected"], name=name, setting=el("code", setting)))
            )
            continue
        why = words[f"workbench.reason.{one['reason']}"]
        since = moment(one["since"])
        lines.append(el("li", filled(words["workbench.away"], name=name, since=since, why=why)))
    return el(
        "div",
        note(el("strong", words["workbench.partial"]), " ", words["workbench.partial_hint"]),
        el("ul", lines),
        class_="partial",
        role="group",
        aria_label=words["workbench.partial"],
    )


def moved_to(property_id: str, view: str, date: str | None) -> str:
    """The address of what somebody chose."""
    known = view if view in BOARDS else GLANCE
    return address(board_path(property_id, known), {"date": date if known in DATED else None})
