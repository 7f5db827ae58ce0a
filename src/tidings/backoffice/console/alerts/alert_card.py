"""One alert: how grave it is, what it means, what to do next, who looks after it."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.alerts.advice import link_of, meaning_of, title_of, todo_of
from tidings.backoffice.console.html import NOTHING, Child, Html, el, filled, join
from tidings.backoffice.console.kit.forms import area_field, button, confirm, hidden, post_form, select_field
from tidings.backoffice.console.kit.marks import badge, code, facts, moment, more, number, status_badge
from tidings.backoffice.console.own_api import at
from tidings.backoffice.console.visits import Visit

HERE = "/console/alerts"
#: For how many minutes a category can be muted, by the key of the text.
MUTES = (("60", "alerts.mute_hour"), ("1440", "alerts.mute_day"), ("10080", "alerts.mute_week"))


def alert_card(visit: Visit, alert: Mapping[str, Any], *, back: str, whole: bool = False) -> Html:
    """The alert as a part of a page; `whole`: its own page, with all that is known."""
    words = visit.words
    path = at(HERE + "/{}", alert["id"])
    title: Child = title_of(words, alert)
    heading = el("h2", title if whole else el("a", title, href=path), id=f"{alert['id']}-title")
    marks = [badge(words[f"alerts.severity.{alert['severity']}"], _tone(alert))]
    if alert["status"] != "raised":
        marks.append(status_badge(words, "alerts", alert["status"]))
    if alert["muted_until"] and alert["status"] != "resolved":
        marks.append(badge(words["alerts.muted"], "off"))
    return el(
        "article",
        el("div", heading, el("div", marks, class_="actions"), class_="head"),
        el("p", _since(visit, alert), class_="soft"),
        el("p", meaning_of(words, alert)),
        _todo(visit, alert) if alert["status"] != "resolved" else NOTHING,
        _looked_after(visit, alert),
        _details(visit, alert, open_=whole),
        _actions(visit, alert, path, back) if visit.may("alerts:write") else NOTHING,
        class_="card",
        id=alert["id"],
        aria_labelledby=f"{alert['id']}-title",
    )


def _tone(alert: Mapping[str, Any]) -> Any:
    if alert["status"] == "resolved":
        return "off"
    return {"critical": "bad", "warning": "warn"}.get(alert["severity"], "info")


def _since(visit: Visit, alert: Mapping[str, Any]) -> Html:
    words = visit.words
    parts: list[Child] = [filled(words["alerts.since"], at=moment(alert["raised_at"]))]
    if alert["property_id"]:
        parts.append(filled(words["alerts.at_property"], property=alert["property_id"]))
    if alert["resolved_at"]:
        who = alert["resolved_by_name"] or (
            words["alerts.itself"] if alert["resolved_by"] == "system" else words["platform"]
        )
        parts.append(filled(words["alerts.resolved_at"], at=moment(alert["resolved_at"]), who=who))
    elif alert["times_seen"] > 1:
        parts.append(
            filled(
                words["alerts.seen"],
                count=number(words, alert["times_seen"]),
                at=moment(alert["last_seen_at"]),
            )
        )
    return join(*parts, between=" · ")


def _todo(visit: Visit, alert: Mapping[str, Any]) -> Html:
    words = visit.words
    link = link_of(words, visit.reader, alert)
    return el(
        "div",
        el("p", el("strong", words["alerts.next"]), " ", todo_of(words, alert)),
        el("p", link) if link else NOTHING,
    )


def _looked_after(visit: Visit, alert: Mapping[str, Any]) -> Html:
    words = visit.words
    rows = [
        el(
            "li",
            filled(
                words["alerts.by"],
                who=one["operator_name"] or words["platform"],
                at=moment(one["acknowledged_at"]),
            ),
            el("span", one["note"], class_="grow") if one["note"] else NOTHING,
        )
        for one in alert["acknowledgements"]
    ]
    return el("ul", rows, class_="rows", aria_label=words["alerts.acknowledged_by"]) if rows else NOTHING


def _details(visit: Visit, alert: Mapping[str, Any], *, open_: bool) -> Html:
    words = visit.words
    known = [
        (words.get(f"alerts.fact.{name}", name.replace("_", " ")), _fact(value))
        for name, value in alert["facts"].items()
    ]
    shown = facts(
        (words["alerts.id"], code(alert["id"], copy=True)),
        (words["alerts.category"], code(alert["category"])),
        (words["alerts.source"], code(alert["source"])),
        *known,
    )
    return more(words["alerts.details"], shown, open_=open_)


def _fact(value: str | int) -> Html:
    return code(value, copy=len(value) > 20) if isinstance(value, str) else el("span", value)


def _actions(visit: Visit, alert: Mapping[str, Any], path: str, back: str) -> Html:
    words, reader = visit.words, visit.reader
    kept = hidden("back", back)
    if alert["status"] == "resolved":
        return NOTHING
    parts: list[Child] = []
    if any(one["is_own"] for one in alert["acknowledgements"]):
        undo = button(words["alerts.withdraw"], "quiet")
        parts.append(post_form(reader, f"{path}/withdraw", kept, undo))
    else:
        parts.append(_acknowledge(visit, alert, path, kept))
    parts.append(
        confirm(
            words,
            reader,
            f"{path}/resolve",
            words["alerts.resolve"],
            words["alerts.resolve_question"],
            fields=kept,
            kind="quiet",
            id_=f"resolve-{alert['id']}",
        )
    )
    if not alert["muted_until"]:
        parts.append(_mute(visit, alert, kept))
    return el("div", parts, class_="actions")


def _acknowledge(visit: Visit, alert: Mapping[str, Any], path: str, kept: Html) -> Html:
    words, reader = visit.words, visit.reader
    send = button(words["alerts.acknowledge"])
    if visit.tenant_is_missing:
        return post_form(reader, f"{path}/acknowledge", kept, send)
    note = area_field(
        "note",
        words["alerts.note"],
        rows=2,
        id_=f"note-{alert['id']}",
        hint=words["alerts.note_hint"],
        maxlength=200,
        class_="prose",
    )
    form = post_form(reader, f"{path}/acknowledge", kept, note, send)
    return el("details", el("summary", words["alerts.acknowledge"], class_="button"), form, class_="confirm")


def _mute(visit: Visit, alert: Mapping[str, Any], kept: Html) -> Html:
    words = visit.words
    choice = select_field(
        "minutes",
        words["alerts.mute_for"],
        [(minutes, words[key]) for minutes, key in MUTES],
        id_=f"minutes-{alert['id']}",
    )
    return confirm(
        words,
        visit.reader,
        f"{HERE}/mutes",
        words["alerts.mute"],
        words["alerts.mute_question"],
        fields=join(kept, choice),
        hide={"category": alert["category"]},
        kind="quiet",
        id_=f"mute-{alert['id']}",
    )
