"""One conversation as it was said, with the box for an answer."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tidings.backoffice.console.conversations.list_page import HOME, standing, waits
from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import NOTHING, Child, Html, el, join
from tidings.backoffice.console.kit.forms import area_field, button, confirm, hidden, post_form, text_field
from tidings.backoffice.console.kit.marks import badge, code, empty, facts, moment, note, number, section
from tidings.backoffice.console.people.list_page import name_of
from tidings.backoffice.console.visits import Visit
from tidings.contracts.sms_segments import measure
from tidings.kernel.http.answers import Reply

#: Seconds after which the page asks whether something new was said; it reads no transcript for that.
_LIVE: Final = 4
_MOST: Final = 4000
#: Status of the notification behind a line → its mark.
_MARKS: Final[Mapping[str, str]] = {
    "queued": "…",
    "scheduled": "…",
    "dispatched": "✓",
    "delivered": "✓✓",
    "failed": "✗",
    "bounced": "✗",
    "suppressed": "✗",
    "expired": "✗",
    "cancelled": "✗",
}

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """What was said; `words` and `statuses` are of what went out, by the notification's id."""

    lines: Sequence[Any]
    #: Where older ones are left out.
    has_more: bool = False
    words: Mapping[str, str] = field(default_factory=dict, repr=False)
    statuses: Mapping[str, str] = field(default_factory=dict)
    #: The template of each, for what is no answer: its words are a click away, and may be a code.
    templates: Mapping[str, str] = field(default_factory=dict)
    #: Answers that no vendor has taken yet, and so stand in no transcript.
    waiting: Sequence[Any] = ()


def thread_page(
    visit: Visit,
    one: Data,
    thread: Thread | None,
    person: Data | None,
    *,
    draft: str = "",
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """`thread` None: the reader may not see what people wrote."""
    words = visit.words
    left = join(
        _news(visit, one),
        section(words["conversations.thread"], _said(visit, thread), id_="thread"),
        _answer(visit, one, draft),
    )
    return page(
        words,
        _heading(visit, person),
        el("div", el("div", left), el("div", _about(visit, one, person)), class_="talk"),
        reader=visit.reader,
        here=HOME,
        trail=[(words["place.conversations"], HOME)],
        told=told,
        wide=True,
        status=status,
    )


def news_page(visit: Visit, one: Data) -> Reply:
    """What the page asks for again and again: only whether there is something new."""
    return page(
        visit.words, visit.words["conversations.thread"], _news(visit, one), reader=visit.reader, here=HOME
    )


def segments_page(visit: Visit, text: str) -> Reply:
    """What is asked for while somebody types."""
    words = visit.words
    return page(words, words["conversations.answer"], _segments(visit, text), reader=visit.reader, here=HOME)


def _heading(visit: Visit, person: Data | None) -> str:
    if person is None:
        return visit.words["conversations.with_stranger"]
    return visit.words["conversations.with"].replace("{name}", name_of(person))


def _news(visit: Visit, one: Data) -> Html:
    """Whether something was said since this page was made, by the version in its address."""
    words = visit.words
    seen = visit.query.get("at", "")
    fresh = seen.isdecimal() and int(seen) < one["version"]
    shown: Child = None
    if fresh:
        text = words["conversations.new_message"] if waits(one) else words["conversations.changed"]
        shown = el(
            "p",
            text,
            " ",
            el("a", words["conversations.show_new"], href=f"{HOME}/{one['id']}"),
            class_="note info",
        )
    return el("div", shown, id="news", data_live=_LIVE, role="status" if fresh else None)


def _said(visit: Visit, thread: Thread | None) -> Html:
    words = visit.words
    if thread is None:
        return note(words["conversations.no_right"], tone="info")
    if not thread.lines and not thread.waiting:
        return empty(words["conversations.silence"])
    bubbles = [_bubble(visit, line, thread) for line in thread.lines]
    bubbles += [_waiting(visit, one, thread) for one in thread.waiting]
    earlier = el("p", words["conversations.earlier"], class_="hint") if thread.has_more else None
    return join(earlier, el("ol", bubbles, class_="thread"))


def _bubble(visit: Visit, line: Data, thread: Thread) -> Html:
    words = visit.words
    theirs = line["direction"] == "in"
    notification = line["notification_id"]
    text = line["text"] or thread.words.get(notification or "")
    kind = words.get(f"conversations.kind.{line['kind']}", line["kind"].replace("_", " "))
    template = thread.templates.get(notification or "")
    named = join(kind, ": ", el("bdi", template)) if template else kind
    inside: Child = el("p", text, dir="auto") if text else el("p", named, class_="soft")
    keyword = badge(line["keyword"].upper(), "warn") if line["keyword"] else None
    mark = None if theirs else _mark(visit, thread.statuses.get(notification or "", ""), line["status"])
    link = None
    if notification:
        link = el("a", words["conversations.why"], href=f"/console/notifications/{notification}")
    said_by = words["conversations.them"] if theirs else words["conversations.us"]
    foot = join(el("span", said_by, class_="unseen"), moment(line["at"]), keyword, mark, link, between=" ")
    return el("li", inside, el("p", foot, class_="foot"), class_="in" if theirs else "out")


def _waiting(visit: Visit, one: Data, thread: Thread) -> Html:
    """An answer that is on its way to a vendor, or never got there."""
    words = visit.words
    text = thread.words.get(one["id"])
    inside: Child = (
        el("p", text, dir="auto")
        if text
        else el("p", words["conversations.kind.notification"], class_="soft")
    )
    link = el("a", words["conversations.why"], href=f"/console/notifications/{one['id']}")
    foot = join(moment(one["created_at"]), _mark(visit, one["status"], ""), link, between=" ")
    return el("li", inside, el("p", foot, class_="foot"), class_="out waiting")


def _mark(visit: Visit, status: str, line: str) -> Html:
    """How far it came: the notification's status where it is known, or else the line's own."""
    words = visit.words
    known = status or {"sent": "dispatched", "sending": "queued", "unlearned": "failed"}.get(line, line)
    text = words.get(f"conversations.mark.{known}", known)
    tone = "good" if known == "delivered" else "bad" if _MARKS.get(known) == "✗" else "soft"
    return el("span", f"{_MARKS.get(known, '')} {text}".strip(), class_=f"mark {tone}")


def _answer(visit: Visit, one: Data, draft: str) -> Html:
    words = visit.words
    if one["status"] != "OPEN":
        return note(words["conversations.is_over"], tone="info")
    if not visit.may("conversations:write"):
        return NOTHING
    form = post_form(
        visit.reader,
        f"{HOME}/{one['id']}/answer",
        hidden("key", secrets.token_hex(16)),
        area_field(
            "text",
            words["conversations.answer"],
            draft,
            rows=3,
            id_="answer-text",
            required=True,
            maxlength=_MOST,
            class_="prose",
            dir="auto",
        ),
        _segments(visit, draft) if one["channel"] == "sms" else None,
        button(words["conversations.send"]),
        data_preview=f"{HOME}/segments" if one["channel"] == "sms" else None,
        data_targets="segments" if one["channel"] == "sms" else None,
        data_guard=True,
    )
    return el("div", form, class_="card")


def _segments(visit: Visit, text: str) -> Html:
    """How many text messages it takes: each is paid for."""
    words = visit.words
    if not text:
        return el("p", words["conversations.segments_hint"], class_="hint", id="segments")
    found = measure(text)
    said = (
        words["conversations.segments"]
        .replace("{segments}", number(words, found.segments))
        .replace("{characters}", number(words, found.characters))
        .replace("{left}", number(words, found.left))
    )
    return el("p", said, class_="hint", id="segments", aria_live="polite")


def _about(visit: Visit, one: Data, person: Data | None) -> Html:
    words = visit.words
    who: Child = words["conversations.stranger"]
    if one["recipient_id"]:
        name = (person or {}).get("display_name")
        shown = el("bdi", name) if name else code(one["recipient_id"])
        who = el("a", shown, href=f"/console/people/{one['recipient_id']}")
    reason = words.get(f"conversations.closed.{one['close_reason']}", one["close_reason"] or "")
    close = None
    if one["status"] == "OPEN" and visit.may("conversations:write"):
        close = confirm(
            words,
            visit.reader,
            f"{HOME}/{one['id']}/close",
            words["conversations.close"],
            words["conversations.close_question"],
            fields=text_field(
                "reason", words["conversations.close_reason"], id_="close-reason", maxlength=300
            ),
            kind="quiet",
        )
    language = person["locale"] if person else None
    return section(
        words["conversations.about"],
        facts(
            (words["conversations.status"], standing(visit, one)),
            (words["conversations.person"], who),
            (words["conversations.language"], el("bdi", language, dir="ltr") if language else None),
            (words["conversations.channel"], words.channel(one["channel"])),
            (words["conversations.number"], el("bdi", one["sender"], dir="ltr")),
            (words["conversations.lines"], number(words, one["messages"])),
            (words["conversations.begun"], moment(one["opened_at"], exact=True)),
            (words["conversations.last"], moment(one["last_message_at"], exact=True)),
            (words["conversations.ends"], moment(one["expires_at"]) if one["status"] == "OPEN" else None),
            (
                words["conversations.closed"],
                join(moment(one["closed_at"], exact=True), " ", reason) if one["closed_at"] else None,
            ),
            (words["conversations.id"], code(one["id"], copy=True)),
        ),
        close,
        id_="about",
    )
