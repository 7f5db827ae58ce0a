"""The list of categories with their rules, and the form of one."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.categories.category_form import (
    PRIORITIES,
    RETENTIONS,
    RULES,
    UNITS,
    USE_CASES,
)
from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    check_field,
    field_row,
    hidden,
    link_button,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import badge, code, empty, facts, note, said, section
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE = "/console/categories"
Row = Mapping[str, Any]


def categories_page(visit: Visit, found: Row) -> Reply:
    """All categories, in the order of the preference page."""
    words = visit.words
    new = link_button(words["categories.new"], f"{HERE}/new") if may_write(visit) else None
    listed = table(
        words["categories.title"],
        [
            Column[Row](words["categories.category"], lambda one: el("bdi", one["category"])),
            Column[Row](words["name"], lambda one: el("bdi", name_of(words, one))),
            Column[Row](words["status"], lambda one: _marks(words, one)),
            Column[Row](words["categories.use_case"], lambda one: words[f"categories.use.{one['use_case']}"]),
            Column[Row](words["categories.rules"], lambda one: _rules(words, one)),
            Column[Row](
                words["categories.expires"], lambda one: duration(words, one["expires_after_seconds"])
            ),
            Column[Row](
                words["categories.kept"], lambda one: words[f"categories.kept.{one['retention_class']}"]
            ),
        ],
        found["items"],
        href=lambda one: f"{HERE}/{one['category']}",
        empty=empty(words["categories.none"]),
    )
    intro = el("p", words["categories.intro"], class_="soft")
    return page(
        words,
        words["categories.title"],
        join(intro, listed),
        reader=visit.reader,
        here=HERE,
        actions=new,
        told=visit.told(),
        wide=True,
    )


def category_page(
    visit: Visit, category: Row | None, typed: Typed, *, told: Told | None = None, status: int = 200
) -> Reply:
    """One of them, or a new one."""
    words = visit.words
    is_own = category is None or category["owner"] == ("platform" if visit.tenant_is_missing else "tenant")
    parts: list[Child] = []
    if category is not None:
        parts += [note(said(text)) for text in category["warnings"]]
        if not is_own:
            parts.append(note(words["categories.of_platform"], tone="info"))
        if not is_own or not may_write(visit):
            parts.append(section(words["categories.about"], _facts(words, category), id_="about"))
    if may_write(visit):
        parts.append(_form(visit, category, typed, is_own=is_own))
    return page(
        words,
        category["category"] if category else words["categories.new"],
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[(words["categories.title"], HERE)],
        told=told or visit.told(),
        status=status,
    )


def may_write(visit: Visit) -> bool:
    """Whether whoever looks may change categories: the platform's are written by who writes tenants."""
    return visit.may("tenants:write" if visit.tenant_is_missing else "templates:write")


def name_of(words: ConsoleStrings, category: Row) -> str:
    """The name that people read on pages, in the reader's language where there is one."""
    names, language = category["names"], words.language
    found = names.get(language) or names.get(language.partition("-")[0]) or names.get("en")
    return str(found or "–")


def duration(words: ConsoleStrings, seconds: int) -> str:
    """A time as the language writes it."""
    from babel.dates import format_timedelta

    return format_timedelta(seconds, threshold=1.5, locale=words.language.replace("-", "_"))


def _marks(words: ConsoleStrings, one: Row) -> Html:
    marks = [
        badge(words[f"categories.owner.{one['owner']}"]),
        badge(words["categories.hidden"], "off") if one["hidden"] else None,
        badge(words["categories.retired"], "warn") if one["retired"] else None,
    ]
    return join(*marks, between=" ")


def _rules(words: ConsoleStrings, one: Row) -> Html:
    return join(
        *(badge(words[f"categories.rule.{rule}"], "info") for rule in RULES if one[rule]), between=" "
    )


def _facts(words: ConsoleStrings, one: Row) -> Html:
    return facts(
        (words["status"], _marks(words, one)),
        (words["name"], el("bdi", name_of(words, one))),
        (words["categories.use_case"], words[f"categories.use.{one['use_case']}"]),
        (words["categories.rules"], _rules(words, one)),
        (words["categories.priority"], words[f"categories.priority.{one['priority']}"]),
        (words["categories.expires"], duration(words, one["expires_after_seconds"])),
        (words["categories.kept"], words[f"categories.kept.{one['retention_class']}"]),
        (words["categories.category"], code(one["category"])),
    )


def _form(visit: Visit, category: Row | None, typed: Typed, *, is_own: bool) -> Html:
    words = visit.words
    path = f"{HERE}/{category['category']}" if category else f"{HERE}/new"
    fields: list[Child] = []
    if category is None:
        fields.append(
            text_field(
                "category",
                words["categories.category"],
                typed.value("category"),
                hint=words["categories.category_hint"],
                error=typed.fault("category"),
                required=True,
                maxlength=64,
                dir="ltr",
                spellcheck="false",
                autocapitalize="none",
            )
        )
    else:
        fields.append(hidden("version", typed.value("version", category["version"])))
    fields += [
        area_field(
            "names",
            words["categories.names"],
            typed.value("names"),
            rows=4,
            hint=words["categories.names_hint"],
            error=next((text for name, text in typed.errors.items() if name.startswith("names")), None),
            class_="prose",
            dir="auto",
        ),
        text_field(
            "position",
            words["categories.position"],
            typed.value("position", 100),
            kind="number",
            hint=words["categories.position_hint"],
            error=typed.fault("position"),
        ),
    ]
    if category is not None and not visit.tenant_is_missing:
        fields.append(check_field("hidden", words["categories.hide"], checked=typed.ticked("hidden")))
    if is_own:
        fields.append(_own_rules(words, typed))
    if is_own and category is not None:
        fields.append(check_field("retired", words["categories.retire"], checked=typed.ticked("retired")))
    form = post_form(visit.reader, path, fields, button(words["save"]), data_guard=True)
    return section(words["categories.change" if category else "categories.what"], form, id_="form")


def _own_rules(words: ConsoleStrings, typed: Typed) -> Html:
    units = [(one, words[f"categories.unit.{one}"]) for one in UNITS]
    boxes = [
        check_field(rule, words[f"categories.rule.{rule}"], checked=typed.ticked(rule)) for rule in RULES
    ]
    faults = [el("p", said(fault), class_="fault") for rule in RULES if (fault := typed.fault(rule))]
    return join(
        field_row(
            select_field(
                "use_case",
                words["categories.use_case"],
                [(one, words[f"categories.use.{one}"]) for one in USE_CASES],
                typed.value("use_case", "txn"),
                error=typed.fault("use_case"),
            ),
            select_field(
                "priority",
                words["categories.priority"],
                [(one, words[f"categories.priority.{one}"]) for one in PRIORITIES],
                typed.value("priority", "normal"),
                error=typed.fault("priority"),
            ),
            select_field(
                "retention_class",
                words["categories.kept"],
                [(one, words[f"categories.kept.{one}"]) for one in RETENTIONS],
                typed.value("retention_class", "standard"),
                error=typed.fault("retention_class"),
            ),
        ),
        field_row(
            text_field(
                "expires",
                words["categories.expires"],
                typed.value("expires", 1),
                kind="number",
                min=1,
                hint=words["categories.expires_hint"],
                error=typed.fault("expires_after_seconds"),
            ),
            select_field(
                "expires_unit", words["categories.unit"], units, typed.value("expires_unit", "days")
            ),
        ),
        el("fieldset", el("legend", words["categories.rules"]), boxes, faults),
    )
