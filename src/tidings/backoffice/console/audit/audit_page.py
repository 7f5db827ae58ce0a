"""Who did what, when and why: one of the three logs, with filters, and whether it is as it was written."""

from typing import Any, Final

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import button, filter_form, hidden, post_form, text_field
from tidings.backoffice.console.kit.marks import (
    block,
    code,
    empty,
    facts,
    json_block,
    moment,
    number,
    tabs,
)
from tidings.backoffice.console.kit.tables import Column, address, pager, table
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE: Final = "/console/audit"
#: Which log → where the API has it.
LOGS: Final = {"notify": "/api/v1/audit", "router": "/api/v1/router/audit", "backoffice": "/bff/v1/audit"}

Row = dict[str, Any]


def audit_page(visit: Visit, log: str, found: Row, *, verified: Row | None = None) -> Reply:
    """One log."""
    words, query = visit.words, visit.query
    filters = filter_form(
        words,
        HERE,
        hidden("log", log),
        text_field(
            "entity_type", words["audit.entity_type"], query.get("entity_type"), maxlength=300, dir="ltr"
        ),
        text_field("entity_id", words["audit.entity_id"], query.get("entity_id"), maxlength=300, dir="ltr"),
    )
    listed = table(
        words["audit.title"],
        [
            Column[Row](words["audit.when"], lambda one: moment(one["occurred_at"]), "tight"),
            Column[Row](words["audit.what"], lambda one: _what(visit, log, one)),
            Column[Row](words["audit.who"], lambda one: code(one["actor"])),
            Column[Row](words["audit.more"], lambda one: _details(visit, one), "grow"),
        ],
        found["items"],
        empty=empty(words["audit.none"], words["audit.none_hint"]),
    )
    kept = {"log": log, **{key: query.get(key) for key in ("entity_type", "entity_id", "cursor")}}
    parts: list[Child] = [
        tabs(
            words["audit.title"],
            *((words[f"audit.log.{one}"], address(HERE, {"log": one}), one == log) for one in LOGS),
        ),
        _verified(visit, verified),
        filters,
        el("section", listed, class_="card", aria_label=words["audit.title"]),
        pager(words, HERE, kept, found.get("next_cursor")),
    ]
    verify = post_form(
        visit.reader, f"{HERE}/verify", hidden("log", log), button(words["audit.verify"], "quiet")
    )
    return page(words, words["audit.title"], parts, reader=visit.reader, here=HERE, actions=verify)


def _what(visit: Visit, log: str, one: Row) -> Html:
    thing = address(HERE, {"log": log, "entity_type": one["entity_type"], "entity_id": one["entity_id"]})
    return join(
        el("strong", one["action"].replace("_", " ").replace(".", " ")),
        el("br"),
        el("span", one["entity_type"].replace("_", " "), class_="soft"),
        " ",
        el("a", el("code", one["entity_id"], dir="ltr"), href=thing, title=visit.words["audit.this_only"]),
    )


def _details(visit: Visit, one: Row) -> Html:
    words = visit.words
    reason = el("p", el("bdi", one["reason"])) if one["reason"] else None
    changed = _changed(one["before"], one["after"])
    about = facts(
        (words["audit.number"], code(f"{one['entity_type']} #{one['seq']}")),
        (words["audit.trace"], code(one["trace_id"], copy=True) if one["trace_id"] else None),
        (words["audit.place"], code(one["ip_hash"][:16]) if one["ip_hash"] else None),
        (words["audit.hash"], code(one["record_hash"])),
    )
    whole = el(
        "details",
        el("summary", words["audit.details"]),
        changed,
        about,
        json_block({"before": one["before"], "after": one["after"]}),
    )
    return join(reason, whole)


def _changed(before: Any, after: Any) -> Html | None:
    """The fields that are otherwise now."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return None
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if not names:
        return None
    lines = [
        join(el("del", f"- {name}: {before.get(name)}\n"), el("ins", f"+ {name}: {after.get(name)}\n"))
        for name in names
    ]
    return el("pre", lines, dir="ltr", tabindex="0")


def _verified(visit: Visit, done: Row | None) -> Child:
    if done is None:
        return None
    words = visit.words
    counts = (
        words["audit.verified"]
        .replace("{rows}", number(words, done["rows"]))
        .replace("{streams}", number(words, done["streams"]))
    )
    more = None if done["complete"] else el("span", words["audit.not_all"])
    if done["ok"]:
        return el("div", el("span", words["audit.is_whole"], " ", counts), more, role="status")
    wrong = "\n".join(
        f"{one['fault']} {one['entity_type'] or ''} #{one['seq'] or ''} {one['id'] or ''}: {one['detail']}"
        for one in done["findings"]
    )
    return join(
        el("div", el("span", words["audit.is_broken"], " ", counts), more, role="alert"), block(wrong)
    )
