"""Of which alerts one is told by a message, and where."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.backoffice.console.alerts.alert_card import HERE
from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import NOTHING, Html, el
from tidings.backoffice.console.kit.forms import (
    button,
    field_row,
    hidden,
    post_form,
    radio_field,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import money, note, section
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

#: Languages of the message, as they call themselves.
LANGUAGES = (("en", "English"), ("fr", "Français"), ("ar", "العربية"), ("fa-AF", "دری"), ("ps-AF", "پښتو"))
_ANY = "none"


def telling_page(
    visit: Visit,
    chosen: Mapping[str, Any],
    budgets: Sequence[Mapping[str, Any]] = (),
    *,
    told: Told | None = None,
    errors: Mapping[str, str] | None = None,
    status: int = 200,
) -> Reply:
    """A form with what was chosen."""
    words = visit.words
    choices = [(one, words[f"alerts.telling.{one}"]) for one in ("critical", "warning", "info", _ANY)]
    own = {"ar": "ar", "fa": "fa-AF"}.get(words.language.partition("-")[0], "en")
    form = post_form(
        visit.reader,
        f"{HERE}/telling",
        radio_field("severity", words["alerts.severity"], choices, chosen.get("severity") or _ANY),
        text_field(
            "phone",
            words["alerts.telling_phone"],
            chosen.get("phone"),
            kind="tel",
            hint=words["alerts.telling_phone_hint"],
            error=(errors or {}).get("phone"),
            dir="ltr",
            autocomplete="tel",
            maxlength=20,
        ),
        select_field("language", words["alerts.telling_language"], LANGUAGES, chosen.get("language") or own),
        button(words["save"]),
    )
    body = el(
        "div",
        section(words["alerts.telling_which"], el("p", words["alerts.telling_about"]), form, id_="telling"),
        note(words["alerts.telling_platform"], tone="info") if visit.reader.is_platform else NOTHING,
        NOTHING if visit.tenant_is_missing else _budgets(visit, budgets),
    )
    return page(
        words,
        words["alerts.telling"],
        body,
        reader=visit.reader,
        here=HERE,
        trail=[(words["place.alerts"], HERE)],
        told=told,
        status=status,
    )


def _budgets(visit: Visit, budgets: Sequence[Mapping[str, Any]]) -> Html:
    words = visit.words
    rows = [
        el(
            "li",
            el("span", money(words, one["micros"], one["currency"]), class_="grow"),
            post_form(
                visit.reader,
                f"{HERE}/budgets",
                hidden("currency", one["currency"]),
                hidden("amount", ""),
                button(words["alerts.budget_remove"], "quiet"),
            )
            if visit.may("alerts:write")
            else NOTHING,
        )
        for one in budgets
    ]
    form = NOTHING
    if visit.may("alerts:write"):
        form = post_form(
            visit.reader,
            f"{HERE}/budgets",
            field_row(
                text_field(
                    "amount",
                    words["alerts.budget_amount"],
                    inputmode="decimal",
                    required=True,
                    maxlength=12,
                    dir="ltr",
                ),
                text_field(
                    "currency",
                    words["alerts.budget_currency"],
                    budgets[0]["currency"] if budgets else "EUR",
                    required=True,
                    pattern="[A-Za-z]{3}",
                    maxlength=3,
                    dir="ltr",
                ),
            ),
            button(words["save"], "quiet"),
        )
    about = el("p", words["alerts.budget_about"])
    listed = el("ul", rows, class_="rows") if rows else NOTHING
    return section(words["alerts.budget"], about, listed, form, id_="budgets")
