"""The list of notifications, dense, with filters that stand in the address."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Html, el, join
from tidings.backoffice.console.kit.forms import any_of, filter_form, select_field, text_field
from tidings.backoffice.console.kit.marks import badge, empty, moment, section, status_badge
from tidings.backoffice.console.kit.tables import Column, address, pager, table
from tidings.backoffice.console.visits import Visit
from tidings.contracts.enums import CHANNELS, NotificationStatus
from tidings.kernel.http.answers import Reply

HOME: Final = "/console/notifications"
#: Filters that the address may have, as the API calls them.
FILTERS: Final = (
    "status",
    "channel",
    "template",
    "category",
    "recipient",
    "correlation_id",
    "batch",
    "since",
    "until",
)
#: Seconds after which the newest are asked for anew.
_LIVE: Final = 5

#: Filters without a field of their own: other pages lead here with them.
_KEPT: Final = (
    ("recipient", "notifications.recipient"),
    ("batch", "notifications.batch"),
    ("category", "notifications.category"),
)

Row = dict[str, Any]
#: Where no names are known.
NOBODY: Final[Mapping[str, str]] = MappingProxyType({})


def list_page(
    visit: Visit,
    found: Mapping[str, Any],
    searchable: Sequence[str],
    *,
    names: Mapping[str, str] = NOBODY,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """The newest first."""
    words, query = visit.words, visit.query
    rows: list[Row] = found["items"]
    wanted = {key: query[key] for key in (*FILTERS, "name", "value") if query.get(key)}
    shown = section(
        words["notifications.list"],
        notifications_table(visit, rows, names=names, is_filtered=bool(wanted)),
        pager(words, HOME, {**wanted, "cursor": query.get("cursor")}, found.get("next_cursor")),
        id_="notifications",
        live=None if query.get("cursor") else _LIVE,
    )
    return page(
        words,
        words["place.notifications"],
        join(_filters(visit, searchable), shown),
        reader=visit.reader,
        here=HOME,
        actions=el("a", words["notifications.find"], href="/console/find", class_="button quiet"),
        told=told,
        wide=True,
        status=status,
    )


def notifications_table(
    visit: Visit,
    rows: Sequence[Row],
    *,
    is_filtered: bool = False,
    of_one: bool = False,
    names: Mapping[str, str] = NOBODY,
) -> Html:
    """Some of them, of several people or `of_one`; each leads to its explanation. `names` are by recipient."""
    words = visit.words
    nothing = empty(
        words["notifications.none_here"] if is_filtered else words["notifications.none"],
        words["notifications.none_here_hint"] if is_filtered else words["notifications.none_hint"],
    )
    return table(
        words["notifications.list"],
        [
            Column[Row](words["notifications.template"], _named),
            Column[Row](words["notifications.status"], lambda one: _status(visit, one)),
            Column[Row](
                words["notifications.channel"],
                lambda one: words.channel(one["final_channel"] or one["channel"]),
            ),
            *(
                []
                if of_one
                else [Column[Row](words["notifications.recipient"], lambda one: _recipient(one, names))]
            ),
            Column[Row](
                words["notifications.reference"], lambda one: el("bdi", one["correlation_id"] or "–")
            ),
            Column[Row](words["notifications.accepted"], lambda one: moment(one["created_at"]), "tight"),
        ],
        rows,
        href=lambda one: f"{HOME}/{one['id']}",
        empty=nothing,
    )


def why(visit: Visit, reason: str | None) -> str:
    """What a code means, as short as a table has room for; one that is not known as it is."""
    if reason is None:
        return ""
    return visit.words.get(f"notifications.why.{reason}", reason.replace("_", " "))


def _status(visit: Visit, one: Row) -> Html:
    """With why, where there is a why."""
    shown = status_badge(visit.words, "notifications", one["status"])
    return join(
        shown, el("span", why(visit, one["reason"]), class_="soft") if one["reason"] else None, between=" "
    )


def _named(one: Row) -> Html:
    test = join(" ", badge("test", "off")) if one["is_test"] else None
    return join(el("bdi", one["template"]["key"]), test)


def _recipient(one: Row, names: Mapping[str, str]) -> Html:
    known = names.get(one["recipient_id"])
    shown = el("bdi", known) if known else el("code", f"…{one['recipient_id'][-6:]}", dir="ltr")
    return el("a", shown, href=f"/console/people/{one['recipient_id']}")


def _filters(visit: Visit, searchable: Sequence[str]) -> Html:
    words, query = visit.words, visit.query
    statuses = [(one.value, words[f"notifications.status.{one.value}"]) for one in NotificationStatus]
    channels = [(one, words.channel(one)) for one in CHANNELS]
    fields = [
        select_field(
            "status",
            words["notifications.status"],
            any_of(words, statuses),
            query.get("status"),
            id_="f-status",
        ),
        select_field(
            "channel",
            words["notifications.channel"],
            any_of(words, channels),
            query.get("channel"),
            id_="f-channel",
        ),
        text_field(
            "template",
            words["notifications.template"],
            query.get("template", ""),
            id_="f-template",
            dir="ltr",
        ),
        text_field(
            "correlation_id",
            words["notifications.reference"],
            query.get("correlation_id", ""),
            id_="f-reference",
            maxlength=200,
        ),
    ]
    if searchable:
        names = [(name, name) for name in searchable]
        fields += [
            select_field(
                "name", words["notifications.metadata_name"], names, query.get("name"), id_="f-name"
            ),
            text_field(
                "value",
                words["notifications.metadata_value"],
                query.get("value", ""),
                id_="f-value",
                maxlength=200,
            ),
        ]
    fields += [
        text_field(
            "since", words["notifications.since"], query.get("since", "")[:10], kind="date", id_="f-since"
        ),
        text_field(
            "until", words["notifications.until"], query.get("until", "")[:10], kind="date", id_="f-until"
        ),
    ]
    kept = [
        el(
            "div",
            el("span", words[text], ": ", el("code", query[name], dir="ltr"), " "),
            el("a", "×", href=_without(query, name), aria_label=words["notifications.leave_out"]),
            el("input", type="hidden", name=name, value=query[name]),
            class_="chip",
        )
        for name, text in _KEPT
        if query.get(name)
    ]
    return filter_form(words, HOME, *fields, *kept)


def _without(query: Mapping[str, str], name: str) -> str:
    kept = {key: value for key, value in query.items() if key not in (name, "cursor", "told")}
    return address(HOME, kept)
