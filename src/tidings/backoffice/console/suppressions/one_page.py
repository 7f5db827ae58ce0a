"""The page of one suppression: what it is, where it came from, and its release."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Html, el, join
from tidings.backoffice.console.kit.forms import confirm, text_field
from tidings.backoffice.console.kit.marks import Tone, code, facts, moment, section, timeline
from tidings.backoffice.console.suppressions.list_page import HOME, standing, target_of
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

Data = Mapping[str, Any]


def one_page(
    visit: Visit,
    one: Data,
    history: Sequence[Data],
    *,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """What is known of it, who did what, and the button that ends it."""
    words = visit.words
    source = one["source_notification_id"]
    notification = el("a", code(source), href=f"/console/notifications/{source}") if source else None
    known = section(
        words["suppressions.what"],
        facts(
            (words["suppressions.address"], target_of(visit, one)),
            (words["suppressions.channel"], words.channel(one["channel"])),
            (words["suppressions.reason"], words[f"suppressions.reason.{one['reason']}"]),
            (words["suppressions.status"], standing(visit, one)),
            (words["suppressions.since"], moment(one["occurred_at"], exact=True)),
            (
                words["suppressions.until"],
                moment(one["expires_at"], otherwise=words["suppressions.for_good"], exact=True),
            ),
            (words["suppressions.notes"], el("bdi", one["notes"]) if one["notes"] else None),
            (words["suppressions.source"], notification),
            (words["suppressions.id"], code(one["id"], copy=True)),
        ),
        _release(visit, one),
        id_="what",
    )
    happened = section(
        words["suppressions.history"], timeline([_line(visit, line) for line in history]), id_="history"
    )
    return page(
        words,
        words["suppressions.one"],
        el("div", known, happened, class_="split"),
        reader=visit.reader,
        here=HOME,
        trail=[(words["place.suppressions"], HOME)],
        told=told,
        status=status,
    )


def _release(visit: Visit, one: Data) -> Html | None:
    words = visit.words
    if one["released_at"] or not visit.may("suppressions:write"):
        return None
    reason = text_field("reason", words["suppressions.why"], id_="release-reason", maxlength=500)
    return confirm(
        words,
        visit.reader,
        f"{HOME}/{one['id']}/release",
        words["suppressions.release"],
        words["suppressions.release_question"],
        fields=reason,
    )


def _line(visit: Visit, line: Data) -> tuple[Html, Html, Tone]:
    words = visit.words
    what = words.get(f"suppressions.did.{line['what']}", line["what"])
    why = el("span", line["why"], dir="auto") if line["why"] else None
    tone: Tone = "good" if line["what"] == "released" else "warn"
    told = join(el("span", what, class_="strong"), code(line["by"]), why, between=" ")
    return moment(line["at"], exact=True), told, tone
