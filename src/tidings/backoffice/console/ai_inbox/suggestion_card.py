"""One suggestion: what would be done and why, where it comes from, and the buttons that decide."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.html import NOTHING, Child, Html, el, filled, join
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    check_field,
    field_row,
    hidden,
    link_button,
    post_form,
    text_field,
)
from tidings.backoffice.console.kit.marks import (
    badge,
    code,
    facts,
    moment,
    more,
    number,
    percent,
    status_badge,
)
from tidings.backoffice.console.own_api import at
from tidings.backoffice.console.visits import Visit

HERE: Final = "/console/ai-inbox"
#: Before the name of a field of the proposal, in the form that changes it.
CHANGED: Final = "set."
_TONES: Final = {"critical": "bad", "warning": "warn", "info": "info"}
_MOST_FIELDS: Final = 20


def suggestion_card(visit: Visit, entry: Mapping[str, Any], *, back: str, whole: bool = False) -> Html:
    """The suggestion as a part of a page; `whole`: its own page."""
    words = visit.words
    path = at(HERE + "/{}", entry["id"])
    title = title_of(visit, entry)
    marks = [
        badge(words[f"ai_inbox.severity.{entry['severity']}"], _TONES[entry["severity"]]),  # type: ignore[arg-type]
        badge(words.get(f"ai_inbox.category.{entry['category']}", entry["category"].replace("_", " "))),
    ]
    if entry["status"] != "open":
        marks.append(status_badge(words, "ai_inbox", entry["status"]))
    return el(
        "article",
        el(
            "div",
            el("h2", title if whole else el("a", title, href=path), dir="auto", id=f"{entry['id']}-title"),
            el("div", marks, class_="actions"),
            class_="head",
        ),
        el("p", _when(visit, entry), class_="soft"),
        el("p", entry["body"], dir="auto") if entry["body"] else NOTHING,
        facts(*((_name(name), _value(visit, value)) for name, value in entry["proposal"].items())),
        _decided(visit, entry),
        _origin(visit, entry, open_=whole),
        _actions(visit, entry, back),
        class_="card",
        id=entry["id"],
        aria_labelledby=f"{entry['id']}-title",
        data_row=True,
    )


def title_of(visit: Visit, entry: Mapping[str, Any]) -> str:
    """What it is called."""
    if entry["source"] == "template":
        proposal = entry["proposal"]
        return (
            visit.words["ai_inbox.draft_title"]
            .replace("{template}", proposal["template"])
            .replace("{channel}", visit.words.channel(proposal["channel"]))
        )
    return str(entry["title"])


def typed(before: Any, given: str | None) -> Any:
    """What was typed, as the kind of value that stood there; as before where it is none."""
    if isinstance(before, bool):
        return given is not None
    if given is None:
        return before
    try:
        if isinstance(before, int):
            return int(given)
        if isinstance(before, float):
            return float(given)
    except ValueError:
        return given
    return None if before is None and not given else given


def _when(visit: Visit, entry: Mapping[str, Any]) -> Html:
    words = visit.words
    parts: list[Child] = [filled(words["ai_inbox.suggested"], at=moment(entry["suggested_at"]))]
    if entry["property_id"]:
        parts.append(filled(words["ai_inbox.at_property"], property=entry["property_id"]))
    if entry["status"] == "open" and entry["expires_at"]:
        parts.append(filled(words["ai_inbox.until"], at=moment(entry["expires_at"], exact=True)))
    return join(*parts, between=" · ")


def _decided(visit: Visit, entry: Mapping[str, Any]) -> Html:
    words = visit.words
    if entry["decided_by"] is None:
        return NOTHING
    who = entry["decided_by_name"] or entry["decided_by"]
    line = filled(words["ai_inbox.decided"], who=who, at=moment(entry["decided_at"]))
    told = entry["delivery"]
    shown = words[f"ai_inbox.delivery.{told}"] if told else None
    return el("p", line, shown and join(" ", el("span", shown, class_="soft")))


def _origin(visit: Visit, entry: Mapping[str, Any], *, open_: bool) -> Html:
    """Where it comes from: a decision is kept with it."""
    words, known = visit.words, entry["provenance"]
    rows: list[tuple[str, Child]] = [(words["ai_inbox.model"], known.get("model"))]
    if known.get("version"):
        rows.append((words["ai_inbox.version"], known["version"]))
    if isinstance(known.get("confidence"), int | float):
        rows.append((words["ai_inbox.confidence"], percent(words, known["confidence"])))
    if known.get("sources"):
        rows.append((words["ai_inbox.sources"], join(*(code(one) for one in known["sources"]), between=" ")))
    if known.get("requested_by"):
        rows.append((words["ai_inbox.requested_by"], known["requested_by"]))
    rows.append((words["ai_inbox.id"], code(entry["suggestion_id"])))
    return more(words["ai_inbox.origin"], facts(*rows), open_=open_)


def _actions(visit: Visit, entry: Mapping[str, Any], back: str) -> Html:
    words = visit.words
    if entry["status"] != "open" or not visit.may("ai_inbox:write"):
        return NOTHING
    if entry["source"] == "template":
        proposal = entry["proposal"]
        read = link_button(
            words["ai_inbox.read_draft"],
            at("/console/templates/{}/{}", proposal["template"], proposal["channel"]),
            "quiet",
        )
        if not visit.may("templates:write"):
            return el("div", read, class_="actions")
        accept, change = words["ai_inbox.approve"], read
    else:
        accept = words["ai_inbox.accept"]
        change = _form(visit, entry, back, outcome="modified", label=words["ai_inbox.change"], kind="quiet")
    return el(
        "div",
        _form(visit, entry, back, outcome="accepted", label=accept),
        change,
        _form(visit, entry, back, outcome="rejected", label=words["ai_inbox.reject"], kind="quiet"),
        class_="actions",
    )


def _form(
    visit: Visit, entry: Mapping[str, Any], back: str, *, outcome: str, label: str, kind: str = ""
) -> Html:
    """Opens before it does something: a decision is not taken back."""
    words = visit.words
    note = area_field(
        "note",
        words["ai_inbox.note"],
        rows=2,
        id_=f"note-{outcome}-{entry['id']}",
        hint=words["ai_inbox.note_hint"],
        maxlength=200,
        class_="prose",
    )
    inside = post_form(
        visit.reader,
        at(HERE + "/{}/decide", entry["id"]),
        el("p", words[f"ai_inbox.question.{outcome}"]),
        hidden("outcome", outcome),
        hidden("back", back),
        _fields(entry) if outcome == "modified" else None,
        note,
        button(label, "grave" if outcome == "rejected" else ""),
    )
    return el(
        "details",
        el("summary", label, class_=f"button {kind}" if kind else "button"),
        inside,
        class_="confirm",
    )


def _fields(entry: Mapping[str, Any]) -> Html:
    made: list[Child] = []
    for name, value in list(entry["proposal"].items())[:_MOST_FIELDS]:
        id_ = f"{name}-{entry['id']}"
        if isinstance(value, bool):
            made.append(check_field(f"{CHANGED}{name}", _name(name), checked=value, id_=id_))
            continue
        kind = "number" if isinstance(value, int | float) else "text"
        step = "any" if isinstance(value, float) else None
        shown = "" if value is None else str(value)
        made.append(text_field(f"{CHANGED}{name}", _name(name), shown, kind=kind, id_=id_, step=step))
    return field_row(*made)


def _name(name: str) -> str:
    return name.replace("_", " ")


def _value(visit: Visit, value: Any) -> Child:
    words = visit.words
    if isinstance(value, bool):
        return words["ai_inbox.yes"] if value else words["ai_inbox.no"]
    if isinstance(value, int | float):
        return number(words, value)
    return "–" if value is None else el("bdi", str(value))
