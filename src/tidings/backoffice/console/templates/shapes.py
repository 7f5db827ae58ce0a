"""What a message looks like where it arrives: a mail in a frame of its own, a text on a telephone, a notice, an item of the inbox."""

import json
from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.html import NOTHING, Child, Html, el, join
from tidings.backoffice.console.kit.marks import badge, facts, json_block, money, note, number
from tidings.backoffice.console.strings import ConsoleStrings

#: Where the frames of mails come from; a script of ours fills them.
FRAME = "/console/templates/frame"


def preview(words: ConsoleStrings, shown: Mapping[str, Any], *, id_: str) -> Html:
    """A preview as the API answers it; a mail itself stands in the frame that shows `id_`."""
    return join(
        _head(words, shown),
        _message(words, shown, id_),
        [note(_said(one)) for one in shown["warnings"]],
    )


def mail_frame(title: str, shows: str, saved: str) -> Html:
    """The frame of a mail: without rights, without scripts of others; without a script it shows what is saved."""
    live = el("iframe", title=title, src=FRAME, sandbox="allow-scripts", data_shows=shows, class_="script")
    plain = el("iframe", title=title, src=saved, sandbox="", class_="unscripted")
    return join(live, el("noscript", plain))


def _head(words: ConsoleStrings, shown: Mapping[str, Any]) -> Html:
    direction = shown["direction"]
    if shown["channel"] == "email":
        subject = el("p", shown["subject"] or "–", class_="strong", dir=direction)
        preheader = el("p", shown["preheader"], class_="soft", dir=direction) if shown["preheader"] else None
        return el("div", subject, preheader, class_="envelope")
    return NOTHING if not shown["sms"] else _sms(words, shown["sms"])


def _sms(words: ConsoleStrings, sms: Mapping[str, Any]) -> Html:
    many = sms["segments"] > 1
    count = words["templates.segments"].replace("{count}", number(words, sms["segments"]))
    rows: list[tuple[str, Child]] = [
        (words["templates.sms_size"], badge(count, "warn" if many else "good")),
        (words["templates.encoding"], sms["encoding"]),
        (words["templates.characters"], number(words, sms["characters"])),
        (words["templates.characters_left"], number(words, sms["characters_left"])),
    ]
    if sms["cost_micros"] is not None:
        rows.append((words["templates.cost"], money(words, sms["cost_micros"], sms["currency"])))
    if sms["transliteration"]:
        plainer = ", ".join(
            f"{_seen(one['character'])} → {_seen(one['replacement'])}" for one in sms["transliteration"]
        )
        saved = words["templates.segments"].replace("{count}", number(words, sms["segments_transliterated"]))
        rows.append((words["templates.plainer"], join(el("bdi", plainer), " = ", saved)))
    return facts(*rows)


def _message(words: ConsoleStrings, shown: Mapping[str, Any], id_: str) -> Html:
    direction, text = shown["direction"], shown["text"] or ""
    channel = shown["channel"]
    if shown["html"] is not None:
        plain = el("details", el("summary", words["templates.plain_text"]), el("pre", text, dir=direction))
        return join(el("div", id=id_, hidden=True, data_html=shown["html"]), plain)
    if channel in ("push", "inapp", "webhook") and (said := _json(text)) is not None:
        if channel == "webhook":
            return json_block(said)
        return join(_notice(shown, said), el("details", el("summary", "JSON"), json_block(said)))
    title = el("strong", shown["subject"], dir=direction) if shown["subject"] else None
    bubble = el("div", title, el("p", text, dir=direction), class_=f"bubble {channel}")
    registered = None
    if shown["whatsapp"]:
        registered = join(el("h4", words["templates.registered"]), json_block(shown["whatsapp"]))
    return join(bubble, registered)


def _notice(shown: Mapping[str, Any], said: Mapping[str, Any]) -> Html:
    direction = shown["direction"]
    actions = [one for one in said.get("actions", ()) if isinstance(one, dict)]
    buttons = [
        el("span", str(one.get("label") or one.get("name") or ""), class_="badge info") for one in actions
    ]
    return el(
        "div",
        el("strong", str(said.get("title") or shown["subject"] or ""), dir=direction),
        el("p", str(said.get("body") or said.get("text") or ""), dir=direction),
        el("p", el("code", str(said["link"]), dir="ltr"), class_="soft") if said.get("link") else None,
        el("p", join(*buttons, between=" ")) if buttons else None,
        class_="bubble notice",
    )


def _seen(character: str) -> str:
    """A character, by its number where nobody sees it."""
    if character == " ":
        return "␣"
    return (
        character
        if character.isprintable() and not character.isspace()
        else f"U+{ord(character):04X}"
        if character
        else "∅"
    )


def _json(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _said(finding: Mapping[str, Any]) -> str:
    return f"{finding['what']}; {finding['how']}"
