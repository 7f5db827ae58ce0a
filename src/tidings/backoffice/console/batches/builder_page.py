"""The builder: what is said, to whom and when, with a count of the people that follows what is typed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidings.backoffice.console.batches.batch_form import DAYS, shares_of
from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    check_field,
    field_row,
    hidden,
    post_form,
    radio_field,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import (
    Tile,
    code,
    empty,
    more,
    note,
    number,
    said,
    section,
    tiles,
)
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.places import path_of
from tidings.backoffice.console.visits import Visit
from tidings.contracts.enums import CHANNELS
from tidings.kernel.http.answers import Reply

HERE = "/console/batches"
_PLAIN: Mapping[str, Any] = {"dir": "ltr", "spellcheck": "false", "autocapitalize": "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchChoices:
    """What a batch may name."""

    templates: Sequence[str]
    categories: Sequence[tuple[str, str]]


def builder_page(
    visit: Visit,
    typed: Typed,
    choices: BatchChoices,
    *,
    batch: Mapping[str, Any] | None = None,
    counted: Html | None = None,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """A new batch, or a draft that is written anew."""
    words = visit.words
    path = f"{HERE}/{batch['id']}/edit" if batch else f"{HERE}/new"
    version = hidden("version", typed.value("version", batch["version"])) if batch else None
    form = post_form(
        visit.reader,
        path,
        version,
        hidden("batch", batch["id"]) if batch else None,
        _said(visit, typed, choices),
        _for_whom(visit, typed),
        el("div", counted or count_part(visit, None), id="count"),
        _when(visit, typed),
        _shares(visit, typed),
        el(
            "div",
            check_field(
                "needs_approval", words["batches.needs_approval"], checked=typed.ticked("needs_approval")
            ),
            button(words["batches.save"]),
            class_="card",
        ),
        data_preview=f"{HERE}/count",
        data_targets="count",
        data_guard=True,
        id="builder",
    )
    trail = [(words["batches.title"], HERE)]
    if batch:
        trail.append((batch["name"], f"{HERE}/{batch['id']}"))
    return page(
        words,
        words["batches.edit"] if batch else words["batches.new"],
        form,
        reader=visit.reader,
        here=HERE,
        trail=trail,
        told=told,
        status=status,
    )


def count_part(
    visit: Visit, found: Mapping[str, Any] | None, errors: Mapping[str, str] | None = None
) -> Html:
    """How many people it is for now, some of them, and what would keep it from them."""
    words = visit.words
    if errors:
        lines = [el("li", el("code", name, dir="ltr"), " ", said(text)) for name, text in errors.items()]
        return section(words["batches.people"], el("ul", lines, class_="faults"), id_="count-part")
    if found is None:
        hint = words["batches.count_hint"]
        counting = button(
            words["batches.count"], "quiet", name="do", value="count", formaction=f"{HERE}/count"
        )
        return section(words["batches.people"], el("p", hint, class_="soft"), counting, id_="count-part")
    shown = [
        Tile(
            words["batches.people"], number(words, found["count"]), tone="info" if found["count"] else "warn"
        ),
        *(
            Tile(words.channel(channel), number(words, count))
            for channel, count in sorted(found["channels"].items())
        ),
    ]
    problems = [note(said(problem)) for problem in found["problems"]]
    return section(
        words["batches.people"],
        el("div", tiles(*shown), aria_live="polite"),
        problems,
        _sample(visit, found["sample"]),
        id_="count-part",
    )


def _sample(visit: Visit, sample: Sequence[Mapping[str, Any]]) -> Html:
    words, people = visit.words, path_of("people")
    return table(
        words["batches.sample"],
        [
            Column[Mapping[str, Any]](words["batches.recipient"], lambda one: code(one["recipient_id"])),
            Column[Mapping[str, Any]](
                words["batches.goes_to"], lambda one: el("bdi", ", ".join(one["to"]) or "–", dir="ltr")
            ),
            Column[Mapping[str, Any]](
                words["batches.problems"],
                lambda one: join(*(said(text) for text in one["problems"]), between="; "),
            ),
        ],
        sample,
        href=(lambda one: f"{people}/{one['recipient_id']}") if people else None,
        empty=empty(words["batches.nobody"], words["batches.nobody_hint"]),
    )


def _said(visit: Visit, typed: Typed, choices: BatchChoices) -> Html:
    words = visit.words
    known = el("datalist", [el("option", value=one) for one in choices.templates], id="templates")
    channels = [
        ("auto", words.channel("auto")),
        *((one, words.channel(one)) for one in CHANNELS),
    ]
    return section(
        words["batches.what"],
        text_field(
            "name",
            words["name"],
            typed.value("name"),
            error=typed.fault("name"),
            required=True,
            maxlength=200,
        ),
        field_row(
            join(
                text_field(
                    "template",
                    words["batches.template"],
                    typed.value("template"),
                    error=typed.fault("template"),
                    list="templates",
                    required=True,
                    autocomplete="off",
                    **_PLAIN,
                ),
                known,
            ),
            select_field("channel", words["batches.channel"], channels, typed.value("channel", "auto")),
        ),
        area_field(
            "variables",
            words["batches.variables"],
            typed.value("variables"),
            rows=5,
            hint=words["batches.variables_hint"],
            error=typed.fault("variables"),
            **_PLAIN,
        ),
        field_row(
            select_field(
                "category",
                words["batches.category"],
                [("", words["batches.of_template"]), *choices.categories],
                typed.value("category"),
                error=typed.fault("category"),
            ),
            select_field(
                "priority",
                words["batches.priority"],
                [(one, words[f"batches.priority.{one}"]) for one in ("low", "normal")],
                typed.value("priority", "low"),
            ),
        ),
        id_="what",
    )


def _for_whom(visit: Visit, typed: Typed) -> Html:
    words = visit.words
    audience = radio_field(
        "audience",
        words["batches.audience"],
        [("filter", words["batches.by_filter"]), ("list", words["batches.by_list"])],
        typed.value("audience", "filter") or "filter",
    )
    people = path_of("people")
    query = area_field(
        "filter",
        words["batches.filter"],
        typed.value("filter"),
        rows=3,
        hint=words["batches.filter_hint"],
        error=typed.fault("filter"),
        placeholder="tag = 'vip' and locale = 'fr'",
        **_PLAIN,
    )
    fields = [
        ("tag", "tag = 'vip'"),
        ("locale", "locale = 'fr'"),
        ("timezone", "timezone = 'Europe/Paris'"),
        ("channel", "channel = 'email'"),
        ("attributes.…", "attributes.stay.nights >= 3"),
        ("identity.type", "identity.type = 'guest'"),
        ("created_at", "created_at >= '2026-01-01'"),
    ]
    known = [join(el("dt", el("code", name)), el("dd", el("code", example))) for name, example in fields]
    help_ = more(words["batches.filter_help"], el("dl", known, dir="ltr"))
    link = el("p", el("a", words["batches.see_people"], href=people)) if people else None
    return section(words["batches.whom"], audience, query, help_, link, id_="whom")


def _when(visit: Visit, typed: Typed) -> Html:
    words = visit.words
    zones = [(one, words[f"batches.zone.{one}"]) for one in ("tenant", "recipient")]
    chosen = typed.value("window_timezone", "tenant")
    if chosen not in ("tenant", "recipient", ""):
        zones.append((chosen, chosen))
    days = [
        check_field(
            f"day_{day}", words[f"batches.day.{day}"], checked=typed.ticked(f"day_{day}", otherwise=True)
        )
        for day in DAYS
    ]
    return section(
        words["batches.when"],
        field_row(
            text_field(
                "scheduled_for",
                words["batches.scheduled_for"],
                typed.value("scheduled_for"),
                kind="datetime-local",
                hint=words["batches.scheduled_hint"],
                error=typed.fault("scheduled_for"),
            ),
            text_field(
                "local_time",
                words["batches.local_time"],
                typed.value("local_time"),
                kind="time",
                hint=words["batches.local_hint"],
                error=typed.fault("local_time"),
            ),
            text_field(
                "per_minute",
                words["batches.per_minute"],
                typed.value("per_minute"),
                kind="number",
                hint=words["batches.pace_hint"],
                error=typed.fault("pacing.per_minute", "pacing"),
                min=1,
            ),
        ),
        more(
            words["batches.window"],
            field_row(
                text_field(
                    "window_start",
                    words["batches.from"],
                    typed.value("window_start"),
                    kind="time",
                    error=typed.fault("window.start", "window"),
                ),
                text_field(
                    "window_end",
                    words["batches.until"],
                    typed.value("window_end"),
                    kind="time",
                    error=typed.fault("window.end"),
                ),
                select_field(
                    "window_timezone",
                    words["batches.zone"],
                    zones,
                    chosen,
                    error=typed.fault("window.timezone"),
                ),
            ),
            el("fieldset", el("legend", words["batches.days"]), el("div", days, class_="actions")),
            open_=bool(typed.value("window_start")),
        ),
        id_="when",
    )


def _shares(visit: Visit, typed: Typed) -> Html:
    words = visit.words
    rows: list[Child] = []
    for place in range(shares_of(typed.fields or {})):
        name = typed.value(f"share_{place}_name") or chr(ord("A") + place)
        rows.append(
            el(
                "fieldset",
                el("legend", words["batches.share"].replace("{name}", name)),
                hidden(f"share_{place}_name", typed.value(f"share_{place}_name")),
                field_row(
                    text_field(
                        f"share_{place}_percent",
                        words["batches.percent"],
                        typed.value(f"share_{place}_percent"),
                        kind="number",
                        min=1,
                        max=100,
                        error=typed.fault(f"variants[{place}].percent", f"variants[{place}]"),
                    ),
                    text_field(
                        f"share_{place}_template",
                        words["batches.other_template"],
                        typed.value(f"share_{place}_template"),
                        list="templates",
                        autocomplete="off",
                        error=typed.fault(f"variants[{place}].template"),
                        **_PLAIN,
                    ),
                ),
                area_field(
                    f"share_{place}_variables",
                    words["batches.other_variables"],
                    typed.value(f"share_{place}_variables"),
                    rows=3,
                    error=typed.fault(f"share_{place}_variables", f"variants[{place}].variables"),
                    **_PLAIN,
                ),
            )
        )
    fault = typed.fault("variants")
    is_open = bool(fault or typed.value("share_0_percent"))
    wrong = el("p", said(fault), class_="fault") if fault else None
    return el(
        "section",
        more(
            words["batches.ab_test"],
            el("p", words["batches.ab_hint"], class_="soft"),
            wrong,
            rows,
            open_=is_open,
        ),
        class_="card",
    )
