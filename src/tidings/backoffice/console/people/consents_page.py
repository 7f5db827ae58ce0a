"""What somebody consented to, and every yes and no that was written down."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.html import Html, el, join
from tidings.backoffice.console.kit.forms import button, confirm, field_row, hidden, post_form, text_field
from tidings.backoffice.console.kit.marks import Tone, badge, code, empty, moment, section
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.people.list_page import HOME
from tidings.backoffice.console.visits import Visit

Data = Mapping[str, Any]


def consents_tab(visit: Visit, person: Data, preferences: Data, found: Data) -> Html:
    """Consent as it stands, and its ledger."""
    return join(_present(visit, person, preferences), _ledger(visit, person, found))


def _present(visit: Visit, person: Data, preferences: Data) -> Html:
    words, consent = visit.words, preferences["marketing_consent"]
    pending = consent.get("pending_since")
    if consent["granted"]:
        mark = badge(words["people.consent_given"], "good")
        when = moment(consent.get("at"), exact=True)
    elif pending:
        mark, when = badge(words["people.consent_pending"], "info"), moment(pending, exact=True)
    else:
        mark, when = badge(words["people.consent_missing"], "off"), moment(consent.get("at"), otherwise="")
    source = el("bdi", consent["source"]) if consent.get("source") else None
    shown = el("p", join(mark, when, source, between=" "))
    if not visit.may("recipients:write"):
        return section(words["people.consent"], shown, id_="consent")
    here = f"{HOME}/{person['id']}/consent"
    version = str(preferences["version"])
    if consent["granted"] or pending:
        change = confirm(
            words,
            visit.reader,
            here,
            words["people.consent_withdraw"],
            words["people.consent_withdraw_question"],
            hide={"version": version, "granted": "no"},
        )
    else:
        change = post_form(
            visit.reader,
            here,
            hidden("version", version),
            hidden("granted", "yes"),
            field_row(
                text_field(
                    "source",
                    words["people.consent_source"],
                    hint=words["people.consent_source_hint"],
                    required=True,
                    maxlength=100,
                ),
                text_field(
                    "evidence",
                    words["people.consent_evidence"],
                    hint=words["people.consent_evidence_hint"],
                    maxlength=300,
                ),
            ),
            button(words["people.consent_grant"]),
        )
    return section(words["people.consent"], shown, change, id_="consent")


def _ledger(visit: Visit, person: Data, found: Data) -> Html:
    words = visit.words
    path = f"{HOME}/{person['id']}"
    listed = table(
        words["people.ledger"],
        [
            Column[Data](words["people.ledger_what"], lambda one: _kind(visit, one["kind"])),
            Column[Data](
                words["people.ledger_about"],
                lambda one: join(
                    el("bdi", one["category"] or words["people.everything"]),
                    words.channel(one["channel"]) if one["channel"] else None,
                    between=" · ",
                ),
            ),
            Column[Data](
                words["people.ledger_when"], lambda one: moment(one["occurred_at"], exact=True), "tight"
            ),
            Column[Data](words["people.ledger_how"], lambda one: el("bdi", one["source"].replace("_", " "))),
            Column[Data](words["people.consent_evidence"], lambda one: el("bdi", one["evidence"] or "–")),
            Column[Data](words["people.ledger_by"], lambda one: code(one["actor"])),
        ],
        found["items"],
        empty=empty(words["people.ledger_none"], words["people.ledger_none_hint"]),
    )
    query = {"tab": "consents", "cursor": visit.query.get("cursor")}
    return section(
        words["people.ledger"],
        listed,
        pager(visit.words, path, query, found.get("next_cursor")),
        id_="ledger",
    )


def _kind(visit: Visit, kind: str) -> Html:
    tone: Tone = "info" if kind == "consent_requested" else "bad"
    if kind in ("consent_granted", "opted_in"):
        tone = "good"
    return badge(visit.words.get(f"people.ledger.{kind}", kind.replace("_", " ")), tone)
