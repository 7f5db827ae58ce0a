"""Why somebody did, or did not, get a notification: the verdict first, then what to do, then everything else."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import link_button
from tidings.backoffice.console.kit.marks import (
    TONES,
    Tone,
    badge,
    code,
    empty,
    facts,
    facts_across,
    json_block,
    moment,
    money,
    more,
    note,
    number,
    section,
    status_badge,
)
from tidings.backoffice.console.kit.tables import address
from tidings.backoffice.console.notifications.actions import steps_section
from tidings.backoffice.console.notifications.list_page import HOME, why
from tidings.backoffice.console.notifications.story import story
from tidings.backoffice.console.places import path_of
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

#: Seconds after which one that is under way is asked for anew.
_LIVE: Final = 3
_UNDER_WAY: Final = frozenset({"queued", "scheduled", "dispatched"})

Data = Mapping[str, Any]


def explain_page(
    visit: Visit, explained: Data, person: Data | None, *, told: Told | None = None, status: int = 200
) -> Reply:
    """All of it; `person` is the recipient, where the reader may see people."""
    words, one = visit.words, explained["notification"]
    live = _LIVE if one["status"] in _UNDER_WAY else None
    body = join(
        _verdict(visit, explained, person, live=live),
        steps_section(visit, explained),
        el(
            "div",
            el("div", story(visit, explained, live=live), _raw(visit, explained)),
            el(
                "div",
                _message(visit, explained),
                _gates(visit, explained["decision"]),
                _attempts(visit, explained),
                _versions(visit, explained),
                _ids(visit, one),
            ),
            class_="split",
        ),
    )
    return page(
        words,
        words["notifications.heading"].replace("{template}", one["template"]["key"]),
        body,
        reader=visit.reader,
        here=HOME,
        trail=[(words["place.notifications"], HOME)],
        told=told,
        wide=True,
        status=status,
    )


def _verdict(visit: Visit, explained: Data, person: Data | None, *, live: int | None) -> Html:
    """The answer to the question on the telephone."""
    words, one = visit.words, explained["notification"]
    status = one["status"]
    because = why(visit, _reason(explained))
    head = el(
        "div",
        el("h2", words[f"notifications.verdict.{status}"], id="verdict-title"),
        status_badge(words, "notifications", status),
        class_="head",
    )
    to = ", ".join(one.get("to") or ())
    when = one.get(f"{status}_at") or (one["dispatched_at"] if status == "dispatched" else None)
    known = facts_across(
        (words["notifications.recipient"], _person(one, person)),
        (words["notifications.to"], el("bdi", to, dir="ltr") if to else None),
        (words["notifications.channel"], _channel(visit, one)),
        (words["notifications.sender"], _sender(one)),
        (words["notifications.accepted"], moment(one["created_at"], exact=True)),
        (words["notifications.ended"], moment(when, exact=True) if when else None),
        (
            words["notifications.reference"],
            el("bdi", one["correlation_id"]) if one["correlation_id"] else None,
        ),
        (words["notifications.cost"], _cost(visit, explained["policy"]["costs"])),
    )
    said = el("p", explained["summary"], lang="en", dir="auto", class_="soft" if because else None)
    tone = TONES.get(status, "")
    return el(
        "section",
        head,
        el("p", because, class_="strong") if because else None,
        said,
        known,
        class_=f"card verdict {tone}".strip(),
        id="verdict",
        aria_labelledby="verdict-title",
        data_live=live,
    )


def _reason(explained: Data) -> str | None:
    """The code that decided: the notification's own, or the gate's that it waits for."""
    one = explained["notification"]
    if one["reason"] or one["status"] != "scheduled":
        return str(one["reason"]) if one["reason"] else None
    deferred = [line["reason"] for line in explained["decision"] if line["verdict"] == "defer"]
    return str(deferred[-1]) if deferred and deferred[-1] else "scheduled_for_later"


def _person(one: Data, person: Data | None) -> Html:
    """Who it was for, with their name where the reader may see it."""
    if person is None:
        return code(one["recipient_id"])
    identity = person["identity"] or {}
    name = person["display_name"] or identity.get("id") or one["recipient_id"]
    return el("a", el("bdi", name), href=f"/console/people/{one['recipient_id']}")


def _channel(visit: Visit, one: Data) -> Html:
    asked, final = one["channel"], one["final_channel"]
    named = visit.words.channel(final or asked)
    return el("span", named, f" ({visit.words.channel(asked)})" if final and final != asked else None)


def _sender(one: Data) -> Html | None:
    sender = one["sender"]
    if sender is None or not sender["value"]:
        return None
    return el("bdi", f"{sender['name']} <{sender['value']}>" if sender["name"] else sender["value"])


def _cost(visit: Visit, costs: Data | None) -> str | None:
    if not costs or not costs["currency"]:
        return None
    return money(visit.words, costs["spent_micros"], costs["currency"])


def _message(visit: Visit, explained: Data) -> Html:
    """What was written: shown on demand, because it is audited."""
    words, one = visit.words, explained["notification"]
    if not visit.may("recipients:write"):
        return section(
            words["notifications.message"], note(words["notifications.message_no_right"], tone="info")
        )
    here = f"{HOME}/{one['id']}"
    if visit.query.get("show") != "body":
        shown: Child = (
            el("p", words["notifications.message_hint"], class_="hint"),
            link_button(words["notifications.message_show"], f"{here}?show=body#message", "quiet"),
        )
        return section(words["notifications.message"], shown, id_="message")
    wanted = visit.query.get("channel")
    channels = list(dict.fromkeys(route["channel"] for route in explained["policy"]["routes"]))
    others = [
        link_button(
            words.channel(channel), address(here, {"show": "body", "channel": channel}) + "#message", "quiet"
        )
        for channel in channels
        if len(channels) > 1
    ]
    frame = el(
        "iframe",
        src=address(f"{here}/body", {"channel": wanted}),
        title=words["notifications.message"],
        sandbox=True,
        loading="lazy",
        referrerpolicy="no-referrer",
    )
    return section(
        words["notifications.message"],
        el("div", others, class_="actions") if others else None,
        frame,
        el("p", words["notifications.message_frame"], class_="hint"),
        id_="message",
    )


def _gates(visit: Visit, lines: Sequence[Data]) -> Html:
    """What every gate said: those that stood in the way first, the others folded."""
    words = visit.words
    telling = [line for line in lines if line["verdict"] != "pass" or line["reason"]]
    passed = [line for line in lines if line not in telling]
    shown: list[Child] = (
        [el("ul", [_gate(visit, line) for line in telling], class_="rows")] if telling else []
    )
    if passed:
        count = words["notifications.gates_passed"].replace("{count}", number(words, len(passed)))
        shown.append(more(count, el("ul", [_gate(visit, line) for line in passed], class_="rows")))
    if not lines:
        shown.append(el("p", words["notifications.gates_none"], class_="soft"))
    return section(words["notifications.gates"], *shown, id_="gates")


def _gate(visit: Visit, line: Data) -> Html:
    words = visit.words
    tones: Mapping[str, Tone] = {"pass": "good", "stop": "bad", "defer": "warn"}
    verdict = line["verdict"]
    mark = el(
        "span",
        words.get(f"notifications.gate_verdict.{verdict}", verdict),
        class_=f"badge {tones.get(verdict, '')}",
    )
    named = words.get(f"notifications.gate.{line['gate']}", line["gate"].replace("_", " "))
    step = words["notifications.step"].replace("{step}", str(line["step"])) if line["step"] else None
    text = el("span", line["explanation"], lang="en", dir="auto", class_="soft")
    asked = [el("span", named, class_="strong"), el("span", step, class_="soft") if step else None]
    return el("li", mark, el("span", join(*asked, between=" "), el("br"), text, class_="grow"))


def _attempts(visit: Visit, explained: Data) -> Html:
    """Calls to vendors, with their own codes."""
    words = visit.words
    made: list[Data] = [attempt for attempt in explained["attempts"] if attempt["status"] != "step_skipped"]
    rows = [_attempt(visit, row) for row in made]
    return section(
        words["notifications.attempts"],
        el("ul", rows, class_="rows") if rows else empty(words["notifications.attempts_none"]),
        id_="attempts",
    )


def _attempt(visit: Visit, row: Data) -> Html:
    words, status = visit.words, row["status"]
    head = join(
        el("bdi", row["vendor"] or "–", class_="strong"),
        el("span", words.channel(row["channel"])),
        badge(words.get(f"notifications.attempt.{status}", status), _attempt_tone(status)),
        el("span", moment(row["started_at"], exact=True), class_="soft"),
        between=" ",
    )
    told = _vendor_code(visit, row)
    theirs = row["provider_message_id"]
    named = None
    if theirs:
        named = el("div", words["notifications.vendor_id"], ": ", code(theirs, copy=True), class_="soft")
    return el("li", el("div", head, el("div", told) if told else None, named, class_="grow"))


def _attempt_tone(status: str) -> Tone:
    if status in ("accepted", "sent", "delivered", "delivered_read", "opened", "clicked"):
        return "good"
    return "warn" if status in ("failed_temp", "timed_out", "cancelled") else "bad"


def _vendor_code(visit: Visit, row: Data) -> Html:
    """Their word, and what it means."""
    http = f"HTTP {row['http_status']}" if row["http_status"] else ""
    codes = " · ".join(word for word in (row["reason"], http) if word)
    told = [el("code", codes, dir="ltr") if codes else None]
    if row["meaning"]:
        told.append(el("span", why(visit, row["meaning"])))
    if row["error"]:
        told.append(el("span", row["error"], class_="soft", dir="auto"))
    if row["answer_learned"] is False:
        told.append(el("span", visit.words["notifications.answer_unknown"], class_="soft"))
    return join(*told, between=" ")


def _versions(visit: Visit, explained: Data) -> Html:
    """By which text, which choices and which rules it went."""
    words = visit.words
    text, choices, rules = explained["template"], explained["preferences"], explained["policy"]
    one = explained["notification"]
    decided = choices["version_decided_by"]
    version = words["notifications.version_undecided"] if decided is None else f"v{decided}"
    changed = None
    if choices["changed_since"]:
        changed = note(
            words["notifications.preferences_changed"].replace("{now}", f"v{choices['version_now']}"),
            tone="warn",
        )
    ladder = [
        el(
            "li",
            el("span", f"{route['step']}. {words.channel(route['channel'])}", class_="strong"),
            el("bdi", route["vendor"]),
            el("span", why(visit, route["barred"]), class_="badge warn") if route["barred"] else None,
        )
        for route in rules["routes"]
    ]
    caption = words["notifications.ladder_frozen"] if rules["frozen"] else words["notifications.ladder_now"]
    known = facts(
        (words["notifications.template"], _template(explained)),
        (words["notifications.language"], el("bdi", text["locale"], dir="ltr") if text["locale"] else None),
        (
            words["notifications.preferences"],
            el("a", version, href=f"/console/people/{choices['recipient_id']}?tab=preferences"),
        ),
        (
            words["notifications.policy"],
            _link(
                "policies", rules["id"], f"{rules['name']} {'' if not rules['version'] else rules['version']}"
            ),
        ),
        (words["notifications.category"], el("bdi", one["category"])),
        (words["notifications.priority"], el("bdi", one["priority"])),
        (words["notifications.expires"], moment(one["expires_at"], exact=True)),
        (words["notifications.trigger"], _trigger(explained["trigger"])),
    )
    return section(
        words["notifications.versions"],
        known,
        changed,
        el("h3", caption) if ladder else None,
        el("ul", ladder, class_="rows") if ladder else None,
        id_="versions",
    )


def _template(explained: Data) -> Html:
    """To the text of the channel that it went by, or would go by."""
    text, one = explained["template"], explained["notification"]
    routes = explained["policy"]["routes"]
    channel = one["final_channel"] or (
        routes[0]["channel"] if one["channel"] == "auto" and routes else one["channel"]
    )
    known = f"{text['key']}/{channel}" if text["id"] and channel != "auto" else None
    return _link("templates", known, f"{text['key']} {text['version']}")


def _link(key: str, id_: str | None, text: str) -> Html:
    path = path_of(key)
    return el("a", el("bdi", text), href=f"{path}/{id_}") if path and id_ else el("bdi", text)


def _trigger(trigger: Data | None) -> Html | None:
    if not trigger:
        return None
    return join(
        _link("triggers", trigger["id"], trigger["event_type"]),
        _link("events", trigger["event_id"], trigger["event_id"]),
        between=" · ",
    )


def _ids(visit: Visit, one: Data) -> Html:
    """What people carry elsewhere, with copy buttons."""
    words = visit.words
    webhooks = path_of("webhooks")
    metadata = [
        el("li", el("code", key, dir="ltr"), el("bdi", str(value))) for key, value in one["metadata"].items()
    ]
    return section(
        words["notifications.ids"],
        facts(
            (words["notifications.id"], code(one["id"], copy=True)),
            (words["notifications.recipient"], code(one["recipient_id"], copy=True)),
            (words["notifications.template_version"], code(one["template"]["version_id"], copy=True)),
            (
                words["notifications.batch"],
                el("a", code(one["batch_id"]), href=f"{HOME}?batch={one['batch_id']}")
                if one["batch_id"]
                else None,
            ),
            (
                words["notifications.resent_from"],
                el("a", code(one["resent_from"]), href=f"{HOME}/{one['resent_from']}")
                if one["resent_from"]
                else None,
            ),
            (words["notifications.event"], code(one["source_event_id"]) if one["source_event_id"] else None),
            (words["notifications.trace"], code(one["trace_id"], copy=True) if one["trace_id"] else None),
        ),
        el("ul", metadata, class_="rows") if metadata else None,
        el("p", el("a", words["notifications.webhook_deliveries"], href=webhooks))
        if webhooks and visit.may("webhooks:read")
        else None,
        id_="ids",
    )


def _raw(visit: Visit, explained: Data) -> Html:
    """All that the API says, for who wants it."""
    words, one = visit.words, explained["notification"]
    if visit.query.get("raw"):
        return section(words["notifications.raw"], json_block(explained), id_="raw")
    return el("p", el("a", words["notifications.raw_show"], href=f"{HOME}/{one['id']}?raw=1#raw"))
