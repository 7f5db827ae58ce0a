"""Tenants: all of them, one of them, and one to be."""

from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    any_of,
    area_field,
    button,
    confirm,
    field_row,
    filter_form,
    hidden,
    link_button,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import (
    badge,
    code,
    empty,
    facts,
    json_block,
    moment,
    more,
    section,
    status_badge,
)
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE: Final = "/console/tenants"
STATUSES: Final = ("active", "suspended", "deleting")

Row = dict[str, Any]


def tenants_page(visit: Visit, found: Row) -> Reply:
    """All of them, the newest first."""
    words, query = visit.words, visit.query
    statuses = [(one, words[f"tenants.status.{one}"]) for one in STATUSES]
    filters = filter_form(
        words, HERE, select_field("status", words["status"], any_of(words, statuses), query.get("status"))
    )
    make = link_button(words["tenants.new"], f"{HERE}/new") if visit.may("tenants:write") else None
    listed = table(
        words["tenants.title"],
        [
            Column[Row](words["name"], lambda one: el("bdi", one["name"] or one["id"])),
            Column[Row](words["tenants.slug"], lambda one: code(one["slug"])),
            Column[Row](words["status"], lambda one: standing(visit, one)),
            Column[Row](words["tenants.region"], lambda one: code(one["region"])),
            Column[Row](words["tenants.since"], lambda one: moment(one["created_at"])),
            Column[Row]("", lambda one: _act_for(visit, one)),
        ],
        found["items"],
        href=lambda one: f"{HERE}/{one['id']}",
        empty=empty(words["tenants.none"], words["tenants.none_hint"], make),
    )
    kept = {key: query.get(key) for key in ("status", "cursor")}
    parts = [
        filters,
        el("section", listed, class_="card", aria_label=words["tenants.title"]),
        pager(words, HERE, kept, found.get("next_cursor")),
    ]
    return page(
        words, words["tenants.title"], parts, reader=visit.reader, here=HERE, actions=make, told=visit.told()
    )


def standing(visit: Visit, one: Row) -> Html:
    """Its status, and whether it is frozen."""
    frozen = badge(visit.words["tenants.frozen"], "warn") if one["frozen"] else None
    return join(status_badge(visit.words, "tenants", one["status"]), frozen, between=" ")


def _act_for(visit: Visit, one: Row) -> Html:
    words = visit.words
    if one["id"] == visit.reader.acting_for:
        return badge(words["acting_for_now"], "info")
    fields = (hidden("tenant", one["id"]), button(words["tenants.act_for"], "quiet"))
    return post_form(visit.reader, "/console/acting-for", fields)


def tenant_page(
    visit: Visit,
    one: Row,
    etag: str,
    *,
    told: Told | None = None,
    typed: Typed | None = None,
    status: int = 200,
) -> Reply:
    """One of them."""
    words = visit.words
    parts: list[Child] = [section(words["tenants.now"], _facts(visit, one), id_="now")]
    if visit.may("tenants:write") and one["status"] != "deleting":
        parts.append(section(words["tenants.gates"], _gates(visit, one), id_="gates"))
        parts.append(
            section(words["tenants.change"], _form(visit, one, etag, typed or Typed()), id_="change")
        )
    return page(
        words,
        one["name"] or one["id"],
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[(words["tenants.title"], HERE)],
        actions=_act_for(visit, one),
        told=told or visit.told(),
        status=status,
    )


def _facts(visit: Visit, one: Row) -> Html:
    words = visit.words
    shown = facts(
        (words["status"], standing(visit, one)),
        (words["tenants.frozen_since"], moment(one["frozen_at"]) if one["frozen_at"] else None),
        (words["tenants.slug"], code(one["slug"])),
        (words["tenants.region"], code(one["region"])),
        (words["tenants.locale"], code(one["default_locale"])),
        (words["tenants.timezone"], code(one["default_timezone"])),
        (words["tenants.since"], moment(one["created_at"], exact=True)),
        ("ID", code(one["id"], copy=True)),
    )
    return join(shown, more(words["tenants.policy"], json_block(one["notification_policy"])))


def _gates(visit: Visit, one: Row) -> Html:
    """What closes it takes a code of the authenticator; what opens it does not."""
    words = visit.words
    path = f"{HERE}/{one['id']}"

    def close(verb: str) -> Html:
        reason = text_field("reason", words["tenants.reason"], maxlength=500, id_=f"{verb}-reason")
        return confirm(
            words,
            visit.reader,
            f"{path}/{verb}",
            words[f"tenants.do.{verb}"],
            words[f"tenants.question.{verb}"],
            fields=reason,
            attested=True,
        )

    def reopen(verb: str) -> Html:
        return post_form(visit.reader, f"{path}/{verb}", button(words[f"tenants.do.{verb}"], "quiet"))

    frozen = reopen("unfreeze") if one["frozen"] else close("freeze")
    suspended = reopen("resume") if one["status"] == "suspended" else close("suspend")
    return el("div", frozen, suspended, class_="actions")


def _form(visit: Visit, one: Row, etag: str, typed: Typed) -> Html:
    words = visit.words
    policy = one["notification_policy"]
    limits = policy.get("limits") or {}

    def granted(name: str) -> Html:
        wrong = next((text for key, text in typed.errors.items() if name in key), None)
        value = typed.value(name, "\n".join(policy.get(name, ())))
        return area_field(name, words[f"tenants.field.{name}"], value, rows=3, error=wrong, dir="ltr")

    def number(name: str) -> Html:
        return text_field(
            name,
            words[f"tenants.field.{name}"],
            typed.value(name, limits.get(name)),
            error=typed.fault(f"notification_policy.limits.{name}"),
            inputmode="numeric",
            dir="ltr",
        )

    return post_form(
        visit.reader,
        f"{HERE}/{one['id']}",
        hidden("etag", etag),
        _identity(visit, one, typed),
        field_row(granted("allowed_sender_domains"), granted("allowed_sender_ids")),
        field_row(
            number("per_second"),
            number("per_day"),
            text_field(
                "weight",
                words["tenants.field.weight"],
                typed.value("weight", one["weight"]),
                error=typed.fault("weight"),
                inputmode="numeric",
                dir="ltr",
            ),
        ),
        button(words["save"]),
        data_guard=True,
    )


def _identity(visit: Visit, one: Row, typed: Typed) -> Html:
    words = visit.words

    def text(name: str, label: str, **attributes: Any) -> Html:
        return text_field(
            name,
            label,
            typed.value(name, one.get(name)),
            error=typed.fault(name),
            required=True,
            **attributes,
        )

    return join(
        field_row(
            text("name", words["name"], maxlength=200, autocomplete="off"),
            text("slug", words["tenants.slug"], maxlength=63, dir="ltr", autocomplete="off"),
        ),
        field_row(
            text("default_locale", words["tenants.locale"], maxlength=35, dir="ltr"),
            text("default_timezone", words["tenants.timezone"], maxlength=64, dir="ltr"),
        ),
    )


def new_tenant_page(visit: Visit, typed: Typed, *, told: Told | None = None, status: int = 200) -> Reply:
    """A tenant to be."""
    words = visit.words
    start = {"default_locale": "en-US", "default_timezone": "UTC"}
    form = post_form(visit.reader, f"{HERE}/new", _identity(visit, start, typed), button(words["save"]))
    return page(
        words,
        words["tenants.new"],
        section(words["tenants.new"], form, id_="new"),
        reader=visit.reader,
        here=HERE,
        trail=[(words["tenants.title"], HERE)],
        told=told,
        status=status,
    )
