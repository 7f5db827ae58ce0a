"""One delivery of a webhook: what was told, and what was answered at each call."""

from typing import Any

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Child, el, join
from tidings.backoffice.console.kit.forms import button, post_form
from tidings.backoffice.console.kit.marks import (
    Tone,
    badge,
    code,
    facts,
    json_block,
    moment,
    section,
    status_badge,
    timeline,
)
from tidings.backoffice.console.visits import Visit
from tidings.backoffice.console.webhooks.list_page import HERE
from tidings.backoffice.console.webhooks.webhook_page import reason_of
from tidings.kernel.http.answers import Reply

Row = dict[str, Any]


def delivery_page(visit: Visit, webhook: Row, one: Row) -> Reply:
    """Request and answers."""
    words = visit.words
    path = f"{HERE}/{webhook['id']}"
    again = None
    if visit.may("webhooks:write") and one["status"] != "blocked":
        again = post_form(
            visit.reader, f"{path}/deliveries/{one['id']}/redeliver", button(words["webhooks.redeliver"])
        )
    about = facts(
        (words["status"], status_badge(words, "webhooks", one["status"])),
        (words["webhooks.event"], code(one["event_type"])),
        (words["webhooks.event_id"], code(one["event_id"], copy=True)),
        (words["webhooks.key"], code(one["ordering_key"])),
        (words["webhooks.happened"], moment(one["happened_at"], exact=True)),
        (
            words["webhooks.next"],
            moment(one["next_attempt_at"], exact=True) if one["next_attempt_at"] else None,
        ),
        (words["webhooks.taken"], moment(one["delivered_at"], exact=True) if one["delivered_at"] else None),
    )
    calls = [_call(visit, call) for call in reversed(one["calls"])]
    told = json_block(one["body"]) if one["body"] is not None else el("p", words["webhooks.no_body"])
    parts = [
        section(
            words["webhooks.delivery"], about, id_="about", live=5 if one["status"] == "queued" else None
        ),
        section(
            words["webhooks.answers"],
            timeline(calls) if calls else el("p", words["webhooks.not_called"], class_="soft"),
            id_="answers",
            live=5,
        ),
        section(
            words["webhooks.request"],
            el("p", el("code", f"POST {webhook['url']}", dir="ltr")),
            told,
            id_="request",
        ),
    ]
    return page(
        words,
        one["event_type"],
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[(words["webhooks.title"], HERE), (webhook["name"], path)],
        actions=again,
        told=visit.told(),
    )


def _call(visit: Visit, call: Row) -> tuple[Child, Child, Tone]:
    took = visit.words["webhooks.took"].replace("{count}", str(call["milliseconds"]))
    is_taken = call["reason"] is None
    status = badge(str(call["status"]), "good" if is_taken else "bad") if call["status"] else None
    shown = join(status, reason_of(visit, call["reason"]), el("span", took, class_="soft"), between=" ")
    return moment(call["at"], exact=True), shown, "good" if is_taken else "bad"
