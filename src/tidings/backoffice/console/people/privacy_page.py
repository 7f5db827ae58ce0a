"""What somebody is owed: all that is known of them, a link to choose for themselves, and to be forgotten."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.html import NOTHING, Html, el, join
from tidings.backoffice.console.kit.forms import button, confirm, post_form, text_field
from tidings.backoffice.console.kit.marks import badge, code, facts, json_block, moment, more, note, section
from tidings.backoffice.console.people.list_page import HOME
from tidings.backoffice.console.visits import Visit

Data = Mapping[str, Any]


def privacy_tab(visit: Visit, person: Data, receipt: Data | None, link: Data | None) -> Html:
    """The archive, the link and the erasure; afterwards the receipt."""
    words = visit.words
    if receipt is not None:
        return _receipt(visit, receipt)
    if not visit.may("recipients:write"):
        return section(words["people.privacy"], note(words["people.privacy_no_right"], tone="info"))
    return join(_link(visit, person, link), _archive(visit, person), _erase(visit, person))


def _link(visit: Visit, person: Data, link: Data | None) -> Html:
    words = visit.words
    shown = NOTHING
    if link is not None:
        shown = join(
            el("p", words["people.link_text"].replace("{channel}", words.channel(link["channel"]))),
            el("code", link["url"], class_="secret"),
            el("p", words["people.link_until"], " ", moment(link["expires_at"], exact=True), class_="hint"),
        )
    ask = post_form(
        visit.reader, f"{HOME}/{person['id']}/link#link", button(words["people.link_make"], "quiet")
    )
    return section(words["people.link"], el("p", words["people.link_hint"]), shown, ask, id_="link")


def _archive(visit: Visit, person: Data) -> Html:
    words = visit.words
    ask = post_form(
        visit.reader, f"{HOME}/{person['id']}/archive", button(words["people.archive_make"], "quiet")
    )
    return section(words["people.archive"], el("p", words["people.archive_hint"]), ask, id_="archive")


def _erase(visit: Visit, person: Data) -> Html:
    words = visit.words
    reason = text_field(
        "reason",
        words["people.erase_reason"],
        id_="erase-reason",
        hint=words["people.erase_reason_hint"],
        maxlength=300,
    )
    ask = confirm(
        words,
        visit.reader,
        f"{HOME}/{person['id']}/erase",
        words["people.erase"],
        words["people.erase_question"],
        fields=reason,
        attested=True,
    )
    return section(words["people.erase"], el("p", words["people.erase_hint"]), ask, id_="erase")


def _receipt(visit: Visit, receipt: Data) -> Html:
    """What was destroyed, signed."""
    words, statement = visit.words, receipt["statement"]
    destroyed, kept = statement["destroyed"], statement["kept"]
    in_flight = statement["in_flight"]
    return section(
        words["people.receipt"],
        el("p", words["people.receipt_hint"]),
        facts(
            (words["people.receipt_id"], code(statement["id"], copy=True)),
            (words["people.receipt_at"], moment(statement["erased_at"], exact=True)),
            (words["people.receipt_by"], code(statement["requested_by"])),
            (words["people.receipt_addresses"], str(destroyed["addresses"])),
            (words["people.receipt_keys"], str(destroyed["data_keys"])),
            (words["people.receipt_notifications"], str(destroyed["notifications_unreadable"])),
            (words["people.receipt_inbox"], str(destroyed["inbox_items"])),
            (words["people.receipt_stopped"], str(statement["stopped"])),
            (words["people.receipt_kept"], str(kept["suppressions"])),
            (words["people.receipt_backups"], el("bdi", statement["backups_until"], dir="ltr")),
            (words["people.receipt_vendors"], join(*map(badge, statement["vendors"]), between=" ")),
        ),
        note(words["people.receipt_in_flight"].replace("{count}", str(len(in_flight))))
        if in_flight
        else None,
        more(words["people.receipt_json"], json_block(receipt)),
        id_="receipt",
    )
