"""What can be done about a notification: what helps, with the button that does it or the way to where it is done."""

import secrets
from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.html import NOTHING, Child, Html, el, join
from tidings.backoffice.console.kit.forms import button, confirm, hidden, link_button, post_form, text_field
from tidings.backoffice.console.kit.marks import moment, section
from tidings.backoffice.console.notifications.list_page import HOME
from tidings.backoffice.console.notifications.next_steps import NextStep, next_steps
from tidings.backoffice.console.places import path_of
from tidings.backoffice.console.visits import Visit

#: Where what helps is done, where it is a place of the console and no button.
_PLACES: Final[Mapping[str, str]] = {
    "set_up_channel": "channels",
    "fix_sender": "channels",
    "fix_template": "templates",
    "vendor_trouble": "vendors",
    "raise_cap": "policies",
}
#: What is done on the page of the person.
_ABOUT_PERSON: Final[Mapping[str, str]] = {
    "respect_no": "preferences",
    "ask_consent": "consents",
    "give_more_time": "preferences",
    "fix_address": "overview",
    "add_address": "overview",
}


def steps_section(visit: Visit, explained: Mapping[str, Any]) -> Html:
    """What helps, in the order in which it helps."""
    words, one = visit.words, explained["notification"]
    rows = [
        el("li", el("span", _text(visit, step), class_="grow"), _beside(_does(visit, step, one)))
        for step in next_steps(explained, visit.caller.scopes)
    ]
    if not rows:
        return NOTHING
    return section(words["notifications.next"], el("ul", rows, class_="rows"), id_="next")


def _beside(does: Child) -> Html | None:
    return el("div", does, class_="actions") if does else None


def _text(visit: Visit, step: NextStep) -> Html:
    words = visit.words
    text = words[f"notifications.next.{step.key}"]
    held = words.get(f"notifications.held.{step.code}", "") if step.key.endswith("suppression") else ""
    until = (
        join(" ", words["notifications.until_when"], " ", moment(step.until, exact=True))
        if step.until
        else None
    )
    return join(text, " " if held else None, held, until)


def _does(visit: Visit, step: NextStep, one: Mapping[str, Any]) -> Child:
    """The button of a step, or the link to where it is done."""
    words, here = visit.words, f"{HOME}/{one['id']}"
    match step.key:
        case "release_suppression":
            return _release_suppression(visit, step, here)
        case "resend":
            return _resend(visit, here)
        case "cancel":
            return _cancel(visit, here)
        case "send_now":
            return post_form(
                visit.reader, f"{here}/release", button(words["notifications.send_now"], "quiet")
            )
        case "digest":
            return link_button(words["notifications.open"], f"{HOME}/{step.subject}", "quiet")
        case "guardian":
            return link_button(words["notifications.open"], f"/console/people/{step.subject}", "quiet")
    if step.key in _ABOUT_PERSON:
        path: str | None = f"/console/people/{one['recipient_id']}?tab={_ABOUT_PERSON[step.key]}"
    else:
        path = path_of(_PLACES[step.key]) if step.key in _PLACES else None
    return link_button(words["notifications.open"], path, "quiet") if path else None


def _release_suppression(visit: Visit, step: NextStep, here: str) -> Html:
    words = visit.words
    opened = link_button(words["notifications.open"], f"/console/suppressions/{step.subject}", "quiet")
    if not visit.may("suppressions:write"):
        return opened
    reason = text_field(
        "reason", words["notifications.release_reason"], id_=f"reason-{step.subject}", maxlength=500
    )
    release = confirm(
        words,
        visit.reader,
        f"{here}/release-suppression",
        words["notifications.release_suppression"],
        words["notifications.release_question"],
        fields=reason,
        hide={"suppression": step.subject},
    )
    return join(release, opened)


def _resend(visit: Visit, here: str) -> Html:
    words = visit.words
    # One key for each page that is shown: a button that is pressed twice sends once.
    key = hidden("key", secrets.token_hex(16))
    return post_form(visit.reader, f"{here}/resend", key, button(words["notifications.resend"]))


def _cancel(visit: Visit, here: str) -> Html:
    words = visit.words
    return confirm(
        words,
        visit.reader,
        f"{here}/cancel",
        words["notifications.cancel"],
        words["notifications.cancel_question"],
    )
