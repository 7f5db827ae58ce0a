"""One webhook: how it answers, its deliveries, what can be done with it."""

from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    any_of,
    button,
    check_field,
    confirm,
    field_row,
    filter_form,
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
    moment,
    section,
    status_badge,
)
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.visits import Visit
from tidings.backoffice.console.webhooks.form_page import webhook_form
from tidings.backoffice.console.webhooks.list_page import HERE, standing
from tidings.kernel.http.answers import Reply

DELIVERY_STATUSES: Final = ("queued", "blocked", "delivered", "dlq")
_LIFETIMES: Final = (3600, 86_400, 604_800)

Row = dict[str, Any]


def webhook_page(
    visit: Visit,
    one: Row,
    deliveries: Row,
    *,
    told: Told | None = None,
    typed: Typed | None = None,
    tried: Row | None = None,
    status: int = 200,
) -> Reply:
    """All about it."""
    words = visit.words
    may_write = visit.may("webhooks:write")
    path = f"{HERE}/{one['id']}"
    parts: list[Child] = [
        _outcome(visit, tried),
        section(
            words["webhooks.now"],
            _facts(visit, one),
            actions=_verbs(visit, one) if may_write else None,
            id_="now",
        ),
        _deliveries(visit, one, deliveries),
    ]
    if may_write:
        parts.append(_again(visit, path))
        parts.append(_portal(visit, path, one))
        parts.append(
            section(words["webhooks.change"], webhook_form(visit, path, typed or Typed(), one), id_="change")
        )
        parts.append(el("div", _rotate(visit, path), _delete(visit, path), class_="actions"))
    return page(
        words,
        one["name"],
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[(words["webhooks.title"], HERE)],
        told=told or visit.told(),
        status=status,
    )


def _facts(visit: Visit, one: Row) -> Html:
    words = visit.words
    events = join(*(code(event) for event in one["events"]), between=", ")
    headers = (
        join(*(code(name) for name in one["header_names"]), between=", ") if one["header_names"] else None
    )
    return facts(
        (words["status"], standing(visit, one)),
        (words["webhooks.url"], code(one["url"], copy=True)),
        (words["webhooks.field.events"], events),
        (words["webhooks.field.condition"], code(one["condition"]) if one["condition"] else None),
        (words["webhooks.customer"], el("bdi", one["customer"]) if one["customer"] else None),
        (words["webhooks.last_success"], moment(one["last_success_at"])),
        (words["webhooks.last_failure"], moment(one["last_failure_at"])),
        (words["webhooks.resting"], moment(one["resting_until"]) if one["resting_until"] else None),
        (
            words["webhooks.both_secrets"],
            moment(one["previous_secret_until"], exact=True) if one["previous_secret_until"] else None,
        ),
        (words["webhooks.headers"], headers),
        ("ID", code(one["id"], copy=True)),
    )


def _verbs(visit: Visit, one: Row) -> Html:
    words = visit.words
    path = f"{HERE}/{one['id']}"
    test = post_form(visit.reader, f"{path}/test", button(words["webhooks.test"], "quiet"))
    if one["status"] == "active":
        return join(test, post_form(visit.reader, f"{path}/pause", button(words["webhooks.pause"], "quiet")))
    resume = confirm(
        words,
        visit.reader,
        f"{path}/resume",
        words["webhooks.resume"],
        words["webhooks.resume_question"],
        fields=check_field("discard", words["webhooks.discard"]),
        kind="quiet",
    )
    return join(test, resume)


def _outcome(visit: Visit, tried: Row | None) -> Child:
    if tried is None:
        return None
    words = visit.words
    text = words["webhooks.test_taken"] if tried["delivered"] else words["webhooks.test_failed"]
    answer = words["webhooks.answer"].replace("{status}", str(tried["status"])) if tried["status"] else None
    reason = reason_of(visit, tried["reason"])
    shown = join(el("span", text), answer, reason, between=" ")
    return el("div", shown, role="status" if tried["delivered"] else "alert")


def _deliveries(visit: Visit, one: Row, found: Row) -> Html:
    words, query = visit.words, visit.query
    path = f"{HERE}/{one['id']}"
    statuses = [(status, words[f"webhooks.status.{status}"]) for status in DELIVERY_STATUSES]
    filters = filter_form(
        words,
        path,
        select_field("status", words["status"], any_of(words, statuses), query.get("status")),
        text_field("event_type", words["webhooks.event"], query.get("event_type"), maxlength=200, dir="ltr"),
    )

    def again(row: Row) -> Html | None:
        if not visit.may("webhooks:write") or row["status"] == "blocked":
            return None
        form = post_form(
            visit.reader,
            f"{path}/deliveries/{row['id']}/redeliver",
            button(words["webhooks.redeliver"], "quiet"),
        )
        return el("div", form, class_="actions")

    listed = table(
        words["webhooks.deliveries"],
        [
            Column[Row](
                words["webhooks.event"], lambda row: el("code", row["event_type"], dir="ltr"), "grow"
            ),
            Column[Row](
                words["status"], lambda row: status_badge(words, "webhooks", row["status"], _tone(row))
            ),
            Column[Row](words["webhooks.happened"], lambda row: moment(row["happened_at"])),
            Column[Row](words["webhooks.calls"], lambda row: row["attempts"], "num"),
            Column[Row](words["webhooks.last_answer"], lambda row: answer_of(visit, row)),
            Column[Row]("", again),
        ],
        found["items"],
        href=lambda row: f"{path}/deliveries/{row['id']}",
        empty=empty(words["webhooks.no_deliveries"], words["webhooks.no_deliveries_hint"]),
    )
    kept = {key: query.get(key) for key in ("status", "event_type", "cursor")}
    return section(
        words["webhooks.deliveries"],
        filters,
        listed,
        pager(words, path, kept, found.get("next_cursor")),
        id_="deliveries",
        live=10,
    )


def _tone(row: Row) -> Any:
    return {"delivered": "good", "dlq": "bad", "blocked": "warn"}.get(row["status"], "info")


def answer_of(visit: Visit, row: Row) -> Html:
    """What was answered last: a status, or why there was none."""
    status = (
        badge(str(row["last_status"]), "good" if row["last_status"] < 300 else "bad")
        if row["last_status"]
        else None
    )
    return join(status, reason_of(visit, row["last_reason"]), between=" ") or el("span", "–", class_="soft")


def reason_of(visit: Visit, reason: str | None) -> Html | None:
    """Why a call was not taken, in words; an answer speaks for itself."""
    if reason is None or reason == "answered":
        return None
    return el("span", visit.words.get(f"webhooks.reason.{reason}", reason.replace("_", " ")), class_="soft")


def _again(visit: Visit, path: str) -> Html:
    """Everything that was missed, or was given up, once more."""
    words = visit.words
    recover = post_form(
        visit.reader,
        f"{path}/recover",
        el("p", words["webhooks.recover_text"]),
        text_field(
            "since", words["webhooks.since"], kind="datetime-local", required=True, id_="recover-since"
        ),
        el(
            "div",
            button(words["webhooks.count"], "quiet", name="do", value="count"),
            button(words["webhooks.recover"], name="do", value="tell"),
            class_="actions",
        ),
    )
    redeliver = post_form(
        visit.reader,
        f"{path}/redeliver",
        el("p", words["webhooks.redeliver_text"]),
        field_row(
            select_field(
                "status",
                words["status"],
                [(one, words[f"webhooks.again.{one}"]) for one in ("dlq", "delivered", "any")],
                id_="again-status",
            ),
            text_field("event_type", words["webhooks.event"], maxlength=200, dir="ltr", id_="again-type"),
        ),
        field_row(
            text_field("since", words["webhooks.since"], kind="datetime-local", id_="again-since"),
            text_field("until", words["webhooks.until"], kind="datetime-local", id_="again-until"),
        ),
        el(
            "div",
            button(words["webhooks.count"], "quiet", name="do", value="count"),
            button(words["webhooks.redeliver"], name="do", value="tell"),
            class_="actions",
        ),
    )
    return section(
        words["webhooks.again"],
        el("details", el("summary", words["webhooks.recover"]), recover),
        el("details", el("summary", words["webhooks.redeliver_some"]), redeliver),
        id_="again",
    )


def _portal(visit: Visit, path: str, one: Row) -> Html:
    words = visit.words
    shows = words["webhooks.portal_customer"] if one["customer"] else words["webhooks.portal_one"]
    form = post_form(
        visit.reader,
        f"{path}/portal-link",
        el("p", shows),
        field_row(
            select_field(
                "lifetime",
                words["webhooks.lifetime"],
                [(str(one), words[f"webhooks.lifetime.{one}"]) for one in _LIFETIMES],
            ),
            check_field("may_change", words["webhooks.may_change"], checked=True),
        ),
        button(words["webhooks.portal_make"]),
    )
    end = confirm(
        words,
        visit.reader,
        f"{path}/portal-link/end",
        words["webhooks.portal_end"],
        words["webhooks.portal_end_question"],
    )
    return section(words["webhooks.portal"], form, actions=end, id_="portal")


def _rotate(visit: Visit, path: str) -> Html:
    words = visit.words
    return confirm(
        words,
        visit.reader,
        f"{path}/rotate",
        words["webhooks.rotate"],
        words["webhooks.rotate_question"],
        attested=True,
        kind="quiet",
    )


def _delete(visit: Visit, path: str) -> Html:
    words = visit.words
    return confirm(
        words, visit.reader, f"{path}/delete", words["webhooks.delete"], words["webhooks.delete_question"]
    )


def shown_once_page(visit: Visit, one: Row, *, heading: str, text: Child, value: str) -> Reply:
    """A secret or a link, this once."""
    words = visit.words
    body = el(
        "div",
        el("p", text),
        el("code", value, class_="secret"),
        link_button(words["webhooks.kept"], f"{HERE}/{one['id']}", "quiet"),
        class_="card",
    )
    return page(
        words,
        heading,
        body,
        reader=visit.reader,
        here=HERE,
        trail=[(words["webhooks.title"], HERE), (one["name"], f"{HERE}/{one['id']}")],
    )
