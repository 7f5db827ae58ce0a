"""The list of suppressions, with what they come to, and the forms that find, add and release."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import NOTHING, Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    any_of,
    button,
    code_field,
    field_row,
    filter_form,
    link_button,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import Tile, empty, moment, number, section, status_badge, tiles
from tidings.backoffice.console.kit.tables import Column, address, pager, table
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HOME: Final = "/console/suppressions"
#: Filters that the address may have, as the API calls them.
FILTERS: Final = ("channel", "reason", "released")
CHANNELS: Final = ("email", "sms", "push", "telegram", "viber", "voice", "whatsapp")
REASONS: Final = (
    "hard_bounce",
    "soft_bounce",
    "complaint",
    "invalid_address",
    "opt_out",
    "manual",
    "compliance",
    "rate_limit",
)
#: The form that the boxes of the rows belong to.
_BULK: Final = "bulk"
_TILES: Final = 4

Row = dict[str, Any]


def list_page(
    visit: Visit,
    found: Mapping[str, Any],
    stats: Mapping[str, Any],
    *,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """Those in force, the newest first."""
    words, query = visit.words, visit.query
    wanted = {key: query[key] for key in FILTERS if query.get(key)}
    older = pager(words, HOME, {**wanted, "cursor": query.get("cursor")}, found.get("next_cursor"))
    listed = section(
        words["suppressions.list"],
        suppressions_table(visit, found["items"], is_filtered=bool(wanted)),
        older,
        _bulk(visit, found["items"]),
        id_="suppressions",
    )
    body = join(_stats(visit, stats), _find(visit), _add(visit), _filters(visit), listed)
    return page(
        words,
        words["place.suppressions"],
        body,
        reader=visit.reader,
        here=HOME,
        actions=_beside(visit),
        told=told,
        wide=True,
        status=status,
    )


def found_page(visit: Visit, found: Sequence[Row]) -> Reply:
    """All of one address, which stands in no URL."""
    words = visit.words
    nothing = empty(words["suppressions.found_none"], words["suppressions.found_none_hint"])
    listed = section(
        words["suppressions.found"],
        suppressions_table(visit, found, boxes=False) if found else nothing,
        id_="suppressions",
    )
    return page(
        words,
        words["suppressions.found"],
        join(_find(visit), listed),
        reader=visit.reader,
        here=HOME,
        trail=[(words["place.suppressions"], HOME)],
        wide=True,
    )


def suppressions_table(
    visit: Visit, rows: Sequence[Row], *, is_filtered: bool = False, boxes: bool = True
) -> Html:
    """Some of them; each leads to its page, and those in force have a box for the release of many."""
    words = visit.words
    columns = [
        Column[Row](words["suppressions.address"], lambda one: target_of(visit, one)),
        Column[Row](words["suppressions.channel"], lambda one: words.channel(one["channel"])),
        Column[Row](words["suppressions.reason"], lambda one: words[f"suppressions.reason.{one['reason']}"]),
        Column[Row](words["suppressions.status"], lambda one: standing(visit, one)),
        Column[Row](words["suppressions.since"], lambda one: moment(one["occurred_at"]), "tight"),
        Column[Row](
            words["suppressions.until"],
            lambda one: moment(one["expires_at"], otherwise=words["suppressions.for_good"], exact=True),
            "tight",
        ),
    ]
    if boxes and visit.may("suppressions:write"):
        columns.append(Column[Row](words["suppressions.choose"], lambda one: _box(visit, one)))
    nothing = empty(
        words["suppressions.none_here"] if is_filtered else words["suppressions.none"],
        words["suppressions.none_hint"],
    )
    return table(
        words["suppressions.list"], columns, rows, href=lambda one: f"{HOME}/{one['id']}", empty=nothing
    )


def target_of(visit: Visit, one: Mapping[str, Any]) -> Html:
    """The hint of an address, or the whole domain that is meant."""
    if one["mail_domain"]:
        text = visit.words["suppressions.domain"].replace("{domain}", one["mail_domain"])
        return el("bdi", text)
    return el(
        "bdi", one["address"] or visit.words["suppressions.by_hash"], dir="ltr" if one["address"] else None
    )


def standing(visit: Visit, one: Mapping[str, Any]) -> Html:
    """Whether it holds something back."""
    status, tone = ("released", "off") if one["released_at"] else ("in_force", "warn")
    return status_badge(visit.words, "suppressions", status, tone)  # type: ignore[arg-type]


def _box(visit: Visit, one: Row) -> Html:
    if one["released_at"]:
        return NOTHING
    label = f"{visit.words['suppressions.choose']}: {one['address'] or one['mail_domain'] or one['id']}"
    return el("input", type="checkbox", name=f"s:{one['id']}", value="on", form=_BULK, aria_label=label)


def _bulk(visit: Visit, rows: Sequence[Row]) -> Html:
    """Many at once take a code: a list that was imported is easily released by mistake."""
    words = visit.words
    if not visit.may("suppressions:write") or all(one["released_at"] for one in rows):
        return NOTHING
    reason = text_field("reason", words["suppressions.why"], id_="bulk-reason", maxlength=500)
    form = post_form(
        visit.reader,
        f"{HOME}/release",
        el("p", words["suppressions.bulk_question"]),
        field_row(reason, code_field(words, id_="bulk-code")),
        button(words["suppressions.release_chosen"], "grave"),
        id=_BULK,
    )
    summary = el("summary", words["suppressions.release_chosen"], class_="button grave")
    return el("details", summary, form, class_="confirm")


def _beside(visit: Visit) -> Child:
    words = visit.words
    exported = post_form(visit.reader, f"{HOME}/export", button(words["suppressions.export"], "quiet"))
    return exported, link_button(words["suppressions.import"], "/console/imports", "quiet")


def _stats(visit: Visit, stats: Mapping[str, Any]) -> Html:
    words = visit.words
    reasons = sorted(stats["by_reason"].items(), key=lambda one: -one[1])
    shown = [Tile(words["suppressions.total"], number(words, stats["total"]))]
    shown += [
        Tile(
            words[f"suppressions.reason.{reason}"],
            number(words, count),
            href=address(HOME, {"reason": reason}),
        )
        for reason, count in reasons[:_TILES]
        if count
    ]
    return tiles(*shown)


def _channels(visit: Visit) -> list[tuple[str, str]]:
    return [(one, visit.words.channel(one)) for one in CHANNELS]


def _find(visit: Visit) -> Html:
    words = visit.words
    fields = field_row(
        text_field(
            "address",
            words["suppressions.find"],
            id_="find-address",
            hint=words["suppressions.find_hint"],
            required=True,
            maxlength=4096,
            autocomplete="off",
            dir="ltr",
        ),
        select_field("channel", words["suppressions.channel"], _channels(visit), id_="find-channel"),
    )
    return el("div", post_form(visit.reader, f"{HOME}/find", fields, button(words["find"])), class_="card")


def _add(visit: Visit) -> Html:
    words = visit.words
    if not visit.may("suppressions:write"):
        return NOTHING
    reasons = [(one, words[f"suppressions.reason.{one}"]) for one in REASONS]
    form = post_form(
        visit.reader,
        HOME,
        field_row(
            text_field(
                "address",
                words["suppressions.address"],
                id_="add-address",
                hint=words["suppressions.add_hint"],
                required=True,
                maxlength=4096,
                autocomplete="off",
                dir="ltr",
            ),
            select_field("channel", words["suppressions.channel"], _channels(visit), id_="add-channel"),
        ),
        field_row(
            select_field("reason", words["suppressions.reason"], reasons, "manual", id_="add-reason"),
            text_field("until", words["suppressions.until_day"], kind="date", id_="add-until"),
        ),
        text_field(
            "notes",
            words["suppressions.notes"],
            id_="add-notes",
            hint=words["suppressions.notes_hint"],
            maxlength=500,
        ),
        button(words["suppressions.add"]),
    )
    return el(
        "details", el("summary", words["suppressions.add"], class_="button"), form, class_="confirm card"
    )


def _filters(visit: Visit) -> Html:
    words, query = visit.words, visit.query
    reasons = [(one, words[f"suppressions.reason.{one}"]) for one in REASONS]
    standings = [("", words["suppressions.in_force_only"]), ("true", words["suppressions.with_released"])]
    return filter_form(
        words,
        HOME,
        select_field(
            "channel",
            words["suppressions.channel"],
            any_of(words, _channels(visit)),
            query.get("channel"),
            id_="f-channel",
        ),
        select_field(
            "reason",
            words["suppressions.reason"],
            any_of(words, reasons),
            query.get("reason"),
            id_="f-reason",
        ),
        select_field(
            "released", words["suppressions.status"], standings, query.get("released"), id_="f-released"
        ),
    )
