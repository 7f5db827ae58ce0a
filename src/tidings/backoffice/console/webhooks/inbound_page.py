"""Where messages that people write are told: routes by number, and what did not reach its webhook."""

from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    any_of,
    button,
    confirm,
    field_row,
    filter_form,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import code, empty, moment, section, status_badge
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.visits import Visit
from tidings.backoffice.console.webhooks.list_page import HERE, webhook_tabs
from tidings.backoffice.console.webhooks.webhook_page import answer_of
from tidings.kernel.http.answers import Reply

INBOUND = f"{HERE}/inbound"
STATUSES = ("queued", "delivered", "dead")

Row = dict[str, Any]


def inbound_page(
    visit: Visit,
    routes: list[Row],
    deliveries: Row,
    *,
    told: Told | None = None,
    typed: Typed | None = None,
    status: int = 200,
) -> Reply:
    """Routes and deliveries."""
    words = visit.words
    parts: list[Child] = [
        webhook_tabs(visit, "inbound"),
        _routes(visit, routes),
        _deliveries(visit, deliveries),
    ]
    if visit.may("router:write"):
        parts.append(_new(visit, typed or Typed()))
    return page(
        words,
        words["webhooks.inbound"],
        parts,
        reader=visit.reader,
        here=HERE,
        told=told or visit.told(),
        status=status,
    )


def _routes(visit: Visit, routes: list[Row]) -> Html:
    words = visit.words

    def verbs(one: Row) -> Html | None:
        if not visit.may("router:write"):
            return None
        path = f"{INBOUND}/{one['id']}"
        if one["grace_period_ends_at"]:
            return post_form(visit.reader, f"{path}/restore", button(words["webhooks.restore"], "quiet"))
        test = post_form(visit.reader, f"{path}/test", button(words["webhooks.test"], "quiet"))
        remove = confirm(
            words,
            visit.reader,
            f"{path}/remove",
            words["webhooks.delete"],
            words["webhooks.remove_question"],
            hide={"version": str(one["version"])},
        )
        return el("div", test, remove, class_="actions")

    def until(one: Row) -> Html:
        if one["grace_period_ends_at"]:
            return join(words["webhooks.removed_until"], " ", moment(one["grace_period_ends_at"], exact=True))
        return status_badge(words, "webhooks", "active" if one["active"] else "paused")

    listed = table(
        words["webhooks.inbound"],
        [
            Column[Row](words["webhooks.number"], lambda one: code(one["inbound"])),
            Column[Row](words["webhooks.url"], lambda one: code(one["webhook_url"]), "grow"),
            Column[Row](words["webhooks.signed_with"], lambda one: code(one["secret_ref"])),
            Column[Row](words["status"], until),
            Column[Row]("", verbs),
        ],
        routes,
        empty=empty(words["webhooks.no_routes"], words["webhooks.no_routes_hint"]),
    )
    return el("section", listed, class_="card", aria_label=words["webhooks.inbound"])


def _deliveries(visit: Visit, found: Row) -> Html:
    words, query = visit.words, visit.query
    statuses = [(one, words[f"webhooks.status.{one}"]) for one in STATUSES]
    filters = filter_form(
        words, INBOUND, select_field("status", words["status"], any_of(words, statuses), query.get("status"))
    )

    def again(one: Row) -> Html | None:
        if one["status"] != "dead" or not visit.may("router:write"):
            return None
        return post_form(
            visit.reader,
            f"{INBOUND}/deliveries/{one['id']}/redeliver",
            button(words["webhooks.redeliver"], "quiet"),
        )

    listed = table(
        words["webhooks.deliveries"],
        [
            Column[Row](words["webhooks.message"], lambda one: code(one["message_id"]), "grow"),
            Column[Row](words["status"], lambda one: status_badge(words, "webhooks", one["status"])),
            Column[Row](words["webhooks.happened"], lambda one: moment(one["created_at"])),
            Column[Row](words["webhooks.calls"], lambda one: one["attempts"], "num"),
            Column[Row](words["webhooks.last_answer"], lambda one: answer_of(visit, one)),
            Column[Row]("", again),
        ],
        found["items"],
        empty=empty(words["webhooks.no_inbound"]),
    )
    everything = None
    if visit.may("router:write") and any(one["status"] == "dead" for one in found["items"]):
        everything = post_form(
            visit.reader, f"{INBOUND}/redeliver", button(words["webhooks.redeliver_dead"], "quiet")
        )
    kept = {key: query.get(key) for key in ("status", "cursor")}
    return section(
        words["webhooks.deliveries"],
        filters,
        listed,
        pager(words, INBOUND, kept, found.get("next_cursor")),
        actions=everything,
        id_="deliveries",
    )


def _new(visit: Visit, typed: Typed) -> Html:
    words = visit.words
    form = post_form(
        visit.reader,
        INBOUND,
        field_row(
            text_field(
                "inbound",
                words["webhooks.number"],
                typed.value("inbound"),
                hint=words["webhooks.number_hint"],
                error=typed.fault("inbound"),
                required=True,
                maxlength=200,
                dir="ltr",
            ),
            text_field(
                "secret_ref",
                words["webhooks.signed_with"],
                typed.value("secret_ref"),
                hint="sealed://inbound",
                error=typed.fault("secret_ref"),
                required=True,
                maxlength=512,
                dir="ltr",
            ),
        ),
        text_field(
            "webhook_url",
            words["webhooks.field.url"],
            typed.value("webhook_url"),
            kind="url",
            error=typed.fault("webhook_url"),
            required=True,
            maxlength=2048,
            dir="ltr",
            placeholder="https://",
        ),
        button(words["save"]),
    )
    return section(words["webhooks.new_route"], form, id_="new")
