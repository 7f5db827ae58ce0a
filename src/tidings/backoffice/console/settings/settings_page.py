"""The settings of a tenant: what it decides itself, and beside it what the platform has decided for it."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    check_field,
    field_row,
    hidden,
    post_form,
    text_field,
)
from tidings.backoffice.console.kit.marks import code, facts, json_block, more, said, section
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE: Final = "/console/settings"
DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MOST_QUIET: Final = 4
SWITCHES: Final = ("double_opt_in", "batches_need_approval", "opens", "clicks")

Row = dict[str, Any]


def settings_page(
    visit: Visit,
    found: Row,
    etag: str,
    *,
    told: Told | None = None,
    typed: Typed | None = None,
    status: int = 200,
) -> Reply:
    """A form for who may change them, or what is so."""
    words, typed = visit.words, typed or Typed()
    may_write = visit.may("channels:write")
    inside: list[Child] = [
        _wrong(typed),
        section(words["settings.languages"], _languages(visit, found, typed), id_="languages"),
        section(
            words["settings.quiet"],
            el("p", words["settings.quiet_text"]),
            _quiet(visit, found, typed),
            id_="quiet",
        ),
        section(
            words["settings.limits"],
            el("p", words["settings.limits_text"]),
            _limits(visit, found, typed),
            id_="limits",
        ),
        section(words["settings.links"], _links(visit, found, typed), id_="links"),
        section(
            words["settings.consent"],
            _switches(visit, found, typed),
            button(words["save"]) if may_write else None,
            id_="consent",
        ),
    ]
    body: list[Child] = []
    if may_write:
        body.append(post_form(visit.reader, HERE, hidden("etag", etag), inside, data_guard=True))
    else:
        body.append(el("fieldset", inside, disabled=True))
    body.append(_platform(visit, found))
    return page(
        words,
        words["settings.title"],
        body,
        reader=visit.reader,
        here=HERE,
        told=told or visit.told(),
        status=status,
    )


def _wrong(typed: Typed) -> Child:
    if not typed.errors:
        return None
    listed = [el("li", el("code", name, dir="ltr"), " ", said(text)) for name, text in typed.errors.items()]
    return el("div", el("ul", listed), class_="note bad")


def _languages(visit: Visit, found: Row, typed: Typed) -> Html:
    words = visit.words
    return field_row(
        text_field(
            "default_locale",
            words["settings.locale"],
            typed.value("default_locale", found["default_locale"]),
            error=typed.fault("default_locale"),
            maxlength=35,
            dir="ltr",
        ),
        text_field(
            "default_timezone",
            words["settings.timezone"],
            typed.value("default_timezone", found["default_timezone"]),
            error=typed.fault("default_timezone"),
            maxlength=64,
            dir="ltr",
        ),
    )


def _quiet(visit: Visit, found: Row, typed: Typed) -> list[Html]:
    words = visit.words
    known: list[Mapping[str, Any]] = [*found["quiet_hours"], {}][:MOST_QUIET]
    shown = []
    for place, hours in enumerate(known):
        days = [
            check_field(
                f"q{place}.{day}",
                words[f"settings.day.{day}"],
                checked=typed.ticked(f"q{place}.{day}", otherwise=day in hours.get("days", ())),
            )
            for day in DAYS
        ]
        title = words["settings.quiet_number"].replace("{number}", str(place + 1))
        fields = field_row(
            text_field(
                f"q{place}.start",
                words["settings.from"],
                typed.value(f"q{place}.start", hours.get("start")),
                kind="time",
                error=typed.fault(f"quiet_hours[{place}].start"),
            ),
            text_field(
                f"q{place}.end",
                words["settings.to"],
                typed.value(f"q{place}.end", hours.get("end")),
                kind="time",
                error=typed.fault(f"quiet_hours[{place}].end"),
            ),
            text_field(
                f"q{place}.timezone",
                words["settings.zone"],
                typed.value(f"q{place}.timezone", hours.get("timezone")),
                hint=words["settings.zone_hint"],
                error=typed.fault(f"quiet_hours[{place}].timezone"),
                dir="ltr",
            ),
        )
        shown.append(
            el("fieldset", el("legend", title), el("div", days, class_="actions"), fields, class_="step")
        )
    return shown


def _limits(visit: Visit, found: Row, typed: Typed) -> Html:
    words = visit.words

    def number(name: str) -> Html:
        return text_field(
            name,
            words[f"settings.{name}"],
            typed.value(name, found["limits"].get(name)),
            error=typed.fault(f"limits.{name}"),
            inputmode="numeric",
            dir="ltr",
        )

    def channels(name: str) -> Html:
        known = "\n".join(f"{channel} {count}" for channel, count in found["limits"].get(name, {}).items())
        wrong = next((text for key, text in typed.errors.items() if key.startswith(f"limits.{name}")), None)
        return area_field(
            name,
            words[f"settings.{name}"],
            typed.value(name, known),
            rows=2,
            hint="sms 2",
            error=wrong,
            dir="ltr",
        )

    return join(
        field_row(number("per_recipient_per_hour"), number("per_recipient_per_day")),
        field_row(
            channels("per_recipient_per_channel_per_hour"), channels("per_recipient_per_channel_per_day")
        ),
    )


def _links(visit: Visit, found: Row, typed: Typed) -> Html:
    words = visit.words
    wrong = next(
        (text for name, text in typed.errors.items() if name.startswith("allowed_link_domains")), None
    )
    return join(
        area_field(
            "allowed_link_domains",
            words["settings.domains"],
            typed.value("allowed_link_domains", "\n".join(found["allowed_link_domains"])),
            rows=3,
            hint=words["settings.domains_hint"],
            error=wrong,
            dir="ltr",
        ),
        text_field(
            "searchable_metadata",
            words["settings.searchable"],
            typed.value("searchable_metadata", " ".join(found["searchable_metadata"])),
            hint=words["settings.searchable_hint"],
            error=next((text for name, text in typed.errors.items() if name.startswith("searchable")), None),
            dir="ltr",
        ),
    )


def _switches(visit: Visit, found: Row, typed: Typed) -> list[Html]:
    known = {**found, **found["tracking"]}
    return [
        check_field(
            name, visit.words[f"settings.{name}"], checked=typed.ticked(name, otherwise=bool(known.get(name)))
        )
        for name in SWITCHES
    ]


def _platform(visit: Visit, found: Row) -> Html:
    words = visit.words
    shown = facts(
        (
            words["settings.senders"],
            code(", ".join(found["allowed_sender_domains"]))
            if found["allowed_sender_domains"]
            else words["settings.none_granted"],
        ),
        (
            words["settings.sender_ids"],
            code(", ".join(found["allowed_sender_ids"]))
            if found["allowed_sender_ids"]
            else words["settings.none_granted"],
        ),
        (words["settings.per_second"], found["per_second"] or words["settings.no_limit"]),
        (words["settings.per_day"], found["per_day"] or words["settings.no_limit"]),
    )
    rest = {name: found[name] for name in ("preference_defaults", "digest_schedule")}
    return section(
        words["settings.platform"],
        el("p", words["settings.platform_text"]),
        shown,
        more(words["settings.rest"], json_block(rest)),
        id_="platform",
    )
