"""What the portal says, in the languages that it speaks; English where a language is not among them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tidings.kernel.translations import SOURCE_LANGUAGE, Catalogue, read_catalogues
from tidings.notify.render.locales import direction_of, language_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalStrings:
    """One language: a field is a key of the catalogues in `translations/`; a mapping has those that begin with its name and a dot."""

    language: str
    direction: str
    title: str
    intro: str
    works_until: str
    only_shows: str
    tests_only: str
    add: str
    nothing_yet: str
    back: str
    address: str
    name: str
    status: str
    rate: str
    no_calls: str
    failures: str
    last_taken: str
    last_not_taken: str
    off_failures: str
    off_gone: str
    chart_day: str
    chart_week: str
    chart_table: str
    taken: str
    not_taken: str
    time: str
    told: str
    example: str
    all_of: str
    kept: str
    settings: str
    yes: str
    no: str
    unset: str
    secret: str
    secret_note: str
    deliveries: str
    all_deliveries: str
    filter: str
    everything: str
    show: str
    no_deliveries: str
    event: str
    attempts: str
    answer: str
    older: str
    request: str
    hidden: str
    anew: str
    body_gone: str
    calls: str
    milliseconds: str
    next_attempt: str
    test: str
    pause: str
    resume: str
    resume_without: str
    change: str
    rotate: str
    delete: str
    redeliver: str
    redeliver_failed: str
    recover: str
    recover_since: str
    save: str
    leave: str
    ask_rotate: str
    ask_delete: str
    secret_title: str
    secret_once: str
    secret_overlap: str
    test_title: str
    test_taken: str
    test_refused: str
    test_unreached: str
    refused_title: str
    unknown_title: str
    unknown: str
    expired_title: str
    expired: str
    missing_title: str
    missing: str
    down_title: str
    down: str
    help: str
    #: Of an endpoint.
    statuses: Mapping[str, str]
    #: Of a delivery.
    delivery_statuses: Mapping[str, str]
    #: Why a call was not taken.
    reasons: Mapping[str, str]
    #: What is told once after a change.
    notes: Mapping[str, str]
    #: Why something was not done.
    errors: Mapping[str, str]
    settings_labels: Mapping[str, str]
    #: Spans of time, by their hours.
    spans: Mapping[str, str]


#: The mappings by what the keys of their texts begin with.
LABELS: Mapping[str, str] = {
    "statuses": "status.",
    "delivery_statuses": "delivery.",
    "reasons": "reason.",
    "notes": "note.",
    "errors": "error.",
    "settings_labels": "setting.",
    "spans": "span.",
}


@cache
def languages() -> Mapping[str, PortalStrings]:
    """The languages that the portal speaks, by the language's code; read once, at first use."""
    return {code: _portal_strings(found) for code, found in read_catalogues(__package__).items()}


def strings_for(locale: str | None, accepted: str | None, tenants_locale: str | None = None) -> PortalStrings:
    """The language of the link, or else one that the browser asks for, or else the tenant's, or else English."""
    asked = [part.partition(";")[0].strip() for part in (accepted or "")[:500].split(",")]
    for tag in (locale, *([] if locale else asked), tenants_locale):
        found = languages().get(language_of(tag)) if tag else None
        if found is not None:
            return found
    return languages()[SOURCE_LANGUAGE]


def _portal_strings(catalogue: Catalogue) -> PortalStrings:
    said: dict[str, Any] = {key: text for key, text in catalogue.texts.items() if "." not in key}
    for name, prefix in LABELS.items():
        said[name] = {
            key.removeprefix(prefix): text for key, text in catalogue.texts.items() if key.startswith(prefix)
        }
    return PortalStrings(language=catalogue.language, direction=direction_of(catalogue.language), **said)
