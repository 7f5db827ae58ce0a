"""The list of devices, and the page of one."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import NOTHING, Child, Html, el, filled, join
from tidings.backoffice.console.kit.forms import any_of, confirm, filter_form, select_field, text_field
from tidings.backoffice.console.kit.marks import (
    badge,
    code,
    empty,
    facts,
    moment,
    note,
    number,
    section,
    status_badge,
)
from tidings.backoffice.console.kit.tables import Column, address, pager, table
from tidings.backoffice.console.own_api import at
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE: Final = "/console/devices"
FILTERS: Final = ("status", "property_id", "cursor")
_SECONDS: Final = 15
Device = Mapping[str, Any]


def devices_page(visit: Visit, found: Mapping[str, Any], *, told: Told | None = None) -> Reply:
    """Which devices are there, and which are not."""
    words = visit.words
    query = {name: visit.query.get(name) for name in FILTERS}
    listed = table(
        words["place.devices"],
        [
            Column[Device](words["devices.device"], lambda one: _name(visit, one)),
            Column[Device](words["devices.status"], lambda one: _status(visit, one)),
            Column[Device](words["devices.operator"], _operator),
            Column[Device](words["devices.property"], lambda one: _or_none(one["property_id"])),
            Column[Device](words["devices.heartbeat"], lambda one: moment(one["last_heartbeat_at"])),
            Column[Device](words["devices.version"], _version),
            Column[Device](words["devices.queued"], lambda one: number(words, _queued(one)), kind="number"),
        ],
        found["items"],
        href=lambda one: at(HERE + "/{}", one["device_id"]),
        empty=_nothing(visit, query),
    )
    body = el(
        "div",
        _filters(visit, query),
        listed,
        pager(words, HERE, query, found["next_cursor"]),
        id="devices",
        data_live=None if query["cursor"] else _SECONDS,
    )
    return page(words, words["place.devices"], body, reader=visit.reader, here=HERE, told=told)


def device_page(
    visit: Visit,
    device: Device,
    reports: Sequence[Mapping[str, Any]],
    *,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """All that is known of one."""
    words = visit.words
    rows: list[tuple[str, Child]] = [
        (words["devices.status"], _status(visit, device)),
        (words["devices.operator"], _operator(device)),
        (words["devices.property"], _or_none(device["property_id"])),
        (words["devices.heartbeat"], moment(device["last_heartbeat_at"])),
        (words["devices.handshake"], moment(device["last_sync_handshake_at"])),
        (words["devices.version"], _version(device)),
        (words["devices.channel"], el("bdi", device["installer_channel"])),
        (words["devices.network"], _or_none(device["network_profile"])),
        (words["devices.cursor"], number(words, device["cursor_version"])),
        (words["devices.id"], code(device["device_id"], copy=True)),
    ]
    parts: list[Child] = []
    if device["status"] == "offline":
        parts.append(note(filled(words["devices.outage"], at=moment(device["offline_since"]))))
    parts.append(section(words["devices.known"], facts(*rows), id_="device", live=_SECONDS))
    parts.append(_queue(visit, device["pending_hints"], reports))
    actions = None
    if device["is_signed_in"] and visit.may("operators:write"):
        actions = confirm(
            words,
            visit.reader,
            at(HERE + "/{}/revoke", device["device_id"]),
            words["devices.revoke"],
            words["devices.revoke_question"],
            attested=True,
            id_="revoke",
        )
    return page(
        words,
        _name(visit, device),
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[(words["place.devices"], HERE)],
        actions=actions,
        told=told,
        status=status,
    )


def _name(visit: Visit, device: Device) -> str:
    """What people know it by: what it runs, or that it is a browser or an application without a name; and the end of its id."""
    kind = device["app_platform"] or visit.words["devices.unnamed"]
    return f"{kind} · {device['device_id'][-6:]}"


def _status(visit: Visit, device: Device) -> Html:
    shown = status_badge(visit.words, "devices", device["status"])
    own = device["device_id"] == visit.caller.device_id
    return join(shown, badge(visit.words["devices.this"], "info"), between=" ") if own else shown


def _operator(device: Device) -> Child:
    return el("bdi", device["operator_name"]) if device["operator_name"] else _or_none(device["operator_id"])


def _version(device: Device) -> Child:
    return _or_none(device["app_version"])


def _or_none(value: str | None) -> Child:
    return el("bdi", value) if value else "–"


def _queued(device: Device) -> int:
    return sum(hint["count"] for hint in device["pending_hints"])


def _queue(visit: Visit, pending: Sequence[Mapping[str, Any]], reports: Sequence[Mapping[str, Any]]) -> Html:
    words = visit.words
    waiting = [
        el(
            "li",
            el("span", hint["kind"].replace("_", " ").replace(".", ": "), class_="grow"),
            el("span", number(words, hint["count"]), class_="soft"),
            join(*(code(one) for one in hint["resource_ids"][:10]), between=" "),
        )
        for hint in pending
    ]
    before = [
        el(
            "li",
            el("span", moment(one["reported_at"]), class_="grow"),
            el("span", number(words, sum(hint["count"] for hint in one["hints"])), class_="soft"),
        )
        for one in reports
    ]
    return section(
        words["devices.queue"],
        el("ul", waiting, class_="rows") if waiting else el("p", words["devices.queue_empty"], class_="soft"),
        el("details", el("summary", words["devices.queue_before"]), el("ul", before, class_="rows"))
        if before
        else NOTHING,
        id_="queue",
    )


def _filters(visit: Visit, query: Mapping[str, str | None]) -> Html:
    words = visit.words
    states = [(one, words[f"devices.status.{one}"]) for one in ("online", "offline", "signed_out")]
    return filter_form(
        words,
        HERE,
        select_field("status", words["devices.status"], any_of(words, states), query["status"]),
        text_field("property_id", words["devices.property"], query["property_id"], maxlength=64, dir="ltr"),
    )


def _nothing(visit: Visit, query: Mapping[str, str | None]) -> Html:
    words = visit.words
    if any(query.values()):
        return empty(words["devices.none_such"], el("a", words["clear"], href=address(HERE, {})))
    return empty(words["devices.none"], words["devices.none_hint"])
