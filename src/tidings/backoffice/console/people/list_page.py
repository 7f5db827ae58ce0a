"""The list of people, and the search for one of them."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Html, el, join
from tidings.backoffice.console.kit.forms import (
    any_of,
    button,
    field_row,
    filter_form,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import badge, empty, moment, section
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HOME: Final = "/console/people"
#: Filters that the address may have, as the API calls them.
FILTERS: Final = ("identity_type", "identity_id", "tag")
KINDS: Final = ("guest", "user", "vendor", "anonymous")

Row = dict[str, Any]


def list_page(
    visit: Visit, found: Mapping[str, Any], *, told: Told | None = None, status: int = 200
) -> Reply:
    """The newest first."""
    words, query = visit.words, visit.query
    wanted = {key: query[key] for key in FILTERS if query.get(key)}
    nothing = empty(
        words["people.none_here"] if wanted else words["people.none"],
        words["people.none_here_hint"] if wanted else words["people.none_hint"],
    )
    listed = table(
        words["people.list"],
        [
            Column[Row](words["people.name"], lambda one: _name(visit, one)),
            Column[Row](words["people.identity"], _identity, "tight"),
            Column[Row](words["people.language"], lambda one: el("bdi", one["locale"], dir="ltr")),
            Column[Row](words["people.tags"], lambda one: join(*map(badge, one["tags"]), between=" ")),
            Column[Row](words["people.since"], lambda one: moment(one["created_at"]), "tight"),
        ],
        found["items"],
        href=lambda one: f"{HOME}/{one['id']}",
        empty=nothing,
    )
    older = pager(words, HOME, {**wanted, "cursor": query.get("cursor")}, found.get("next_cursor"))
    body = join(
        _by_address(visit), _filters(visit), section(words["people.list"], listed, older, id_="people")
    )
    return page(
        words,
        words["place.people"],
        body,
        reader=visit.reader,
        here=HOME,
        told=told,
        wide=True,
        status=status,
    )


def name_of(one: Mapping[str, Any]) -> str:
    """What a person is called: their name, your own id, or the end of ours."""
    return str(one["display_name"] or (one["identity"] or {}).get("id") or f"…{one['id'][-6:]}")


def _name(visit: Visit, one: Row) -> Html:
    erased = join(" ", badge(visit.words["people.erased"], "off")) if one["erased_at"] else None
    return join(el("bdi", name_of(one)), erased)


def _identity(one: Row) -> Html | str:
    identity = one["identity"]
    return el("bdi", f"{identity['type']} {identity['id'] or ''}") if identity else "–"


def _by_address(visit: Visit) -> Html:
    """By POST, as everywhere: an address belongs into no URL."""
    words = visit.words
    field = text_field(
        "q",
        words["people.find"],
        id_="find-person",
        hint=words["people.find_hint"],
        required=True,
        maxlength=320,
        autocomplete="off",
        dir="auto",
    )
    return el(
        "div",
        post_form(visit.reader, "/console/find", field_row(field), button(words["find"])),
        class_="card",
    )


def _filters(visit: Visit) -> Html:
    words, query = visit.words, visit.query
    kinds = [(one, words[f"people.kind.{one}"]) for one in KINDS]
    return filter_form(
        words,
        HOME,
        select_field(
            "identity_type",
            words["people.kind"],
            any_of(words, kinds),
            query.get("identity_type"),
            id_="f-kind",
        ),
        text_field(
            "identity_id", words["people.identity"], query.get("identity_id", ""), id_="f-id", maxlength=200
        ),
        text_field("tag", words["people.tag"], query.get("tag", ""), id_="f-tag", maxlength=100),
    )
