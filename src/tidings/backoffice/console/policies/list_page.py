"""The policies of a tenant: one for each use case, and what happens where there is none."""

from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Html, el, join
from tidings.backoffice.console.kit.forms import button, hidden, link_button, post_form
from tidings.backoffice.console.kit.marks import badge, moment, money, section
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.policies.editor_page import HERE, USE_CASES
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

Row = dict[str, Any]


def policies_page(visit: Visit, found: list[Row], *, told: Told | None = None) -> Reply:
    """Every use case with its ladder."""
    words = visit.words
    in_force = {one["use_case"]: one for one in found if one["deleted_at"] is None}
    rows = [in_force.get(use_case) or {"use_case": use_case} for use_case in USE_CASES]
    listed = table(
        words["policies.title"],
        [
            Column[Row](
                words["policies.use_case"], lambda one: words[f"policies.use_case.{one['use_case']}"]
            ),
            Column[Row](words["policies.ladder"], lambda one: _ladder(visit, one), "grow"),
            Column[Row](words["policies.field.strategy"], lambda one: _strategy(visit, one)),
            Column[Row](words["policies.cap"], lambda one: _cap(visit, one)),
            Column[Row](words["policies.changed"], lambda one: moment(one.get("updated_at"))),
        ],
        rows,
        href=lambda one: f"{HERE}/{one['id']}" if "id" in one else None,
    )
    parts = [
        el("p", words["policies.intro"], class_="soft"),
        el("section", listed, class_="card", aria_label=words["policies.title"]),
    ]
    gone = [one for one in found if one["deleted_at"] is not None and one["grace_period_ends_at"] is not None]
    gone = [one for one in gone if one["use_case"] not in in_force]
    if gone:
        items = [_deleted(visit, one) for one in gone]
        parts.append(section(words["policies.deleted"], el("ul", items, class_="rows"), id_="deleted"))
    return page(words, words["policies.title"], parts, reader=visit.reader, here=HERE, told=told)


def _ladder(visit: Visit, one: Row) -> Html:
    words = visit.words
    if "ladder" not in one:
        make = None
        if visit.may("router:write"):
            make = link_button(words["policies.make"], f"{HERE}/new?use_case={one['use_case']}", "quiet")
        return join(el("span", words["policies.none"], class_="soft"), make, between=" ")
    between = " ∥ " if one["strategy"] == "PARALLEL" else " → "
    return join(*(badge(words.channel(step["channel"])) for step in one["ladder"]), between=between)


def _strategy(visit: Visit, one: Row) -> str:
    return visit.words[f"policies.strategy.{one['strategy']}"] if "strategy" in one else "–"


def _cap(visit: Visit, one: Row) -> str:
    cap = one.get("cost_cap_micros")
    return "–" if cap is None else money(visit.words, cap, one["cost_cap_currency"])


def _deleted(visit: Visit, one: Row) -> Html:
    words = visit.words
    until = el(
        "span",
        words["policies.restorable"],
        " ",
        moment(one["grace_period_ends_at"], exact=True),
        class_="soft",
    )
    restore = None
    if visit.may("router:write"):
        restore = restore_form(visit, one["id"])
    name = words[f"policies.use_case.{one['use_case']}"]
    return el("li", el("span", el("strong", name), " ", until, class_="grow"), restore)


def restore_form(visit: Visit, policy_id: str) -> Html:
    """The button that puts a deleted policy in force again."""
    return post_form(
        visit.reader,
        f"{HERE}/{policy_id}/restore",
        hidden("id", policy_id),
        button(visit.words["policies.restore"], "quiet"),
    )
