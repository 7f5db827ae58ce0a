"""What vendors' codes mean: those that nobody knows yet, given a meaning at once, and the whole map."""

from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    button,
    confirm,
    filter_form,
    hidden,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import badge, code, empty, moment, section
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.vendors.list_page import HERE, vendor_tabs
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

MEANINGS: Final = (
    "accepted", "sent", "delivered", "delivered_read", "failed_temp", "failed_perm", "rejected_by_provider",
    "rejected_by_recipient", "timed_out", "cancelled", "bounced", "complaint", "opened", "clicked",
)  # fmt: skip
#: The reason that is meant where nobody gives another.
USUAL_REASON: Final = {
    "bounced": "hard_bounce",
    "complaint": "complaint",
    "rejected_by_recipient": "blocked",
    "failed_perm": "invalid_address",
}

Row = dict[str, Any]


def codes_page(
    visit: Visit, unknown: list[Row], known: Row, *, told: Told | None = None, status: int = 200
) -> Reply:
    """Unknown codes first."""
    words, query = visit.words, visit.query
    path = f"{HERE}/codes"
    may_write = visit.may("router:write")
    fresh = table(
        words["vendors.unknown"],
        [
            Column[Row](
                words["vendors.code"],
                lambda one: join(code(one["code"]), el("span", one["vendor"], class_="soft"), between=" "),
            ),
            Column[Row](words["vendors.seen"], lambda one: one["count"], "num"),
            Column[Row](words["vendors.last_seen"], lambda one: moment(one["last_seen"])),
            Column[Row](
                words["vendors.means"],
                lambda one: _map(visit, one) if may_write else _means(visit, one["means"]),
                "grow",
            ),
        ],
        unknown,
        empty=empty(words["vendors.none_unknown"], words["vendors.none_unknown_hint"]),
    )
    lines = table(
        words["vendors.map"],
        [
            Column[Row](
                words["vendors.code"],
                lambda one: join(code(one["code"]), el("span", one["adapter"], class_="soft"), between=" "),
            ),
            Column[Row](words["vendors.means"], lambda one: _means(visit, one[one["counts"]]), "grow"),
            Column[Row](words["vendors.owner"], lambda one: words[f"vendors.line.{one['counts']}"], "tight"),
            Column[Row]("", lambda one: _change(visit, one) if may_write else None),
        ],
        known["items"],
        empty=el("p", words["vendors.no_lines"], class_="soft"),
    )
    filters = filter_form(
        words,
        path,
        text_field("adapter", words["vendors.vendor"], query.get("adapter"), maxlength=63, dir="ltr"),
    )
    kept = {key: query.get(key) for key in ("adapter", "cursor")}
    parts: list[Child] = [
        vendor_tabs(visit, "codes"),
        section(words["vendors.unknown"], el("p", words["vendors.unknown_text"]), fresh, id_="unknown"),
        section(
            words["vendors.map"],
            filters,
            lines,
            pager(words, path, kept, known.get("next_cursor")),
            id_="map",
        ),
    ]
    return page(
        words,
        words["vendors.codes"],
        parts,
        reader=visit.reader,
        here=HERE,
        told=told or visit.told(),
        status=status,
    )


def _means(visit: Visit, line: Row | None) -> Html:
    if line is None:
        return el("span", "–", class_="soft")
    return join(
        badge(visit.words[f"vendors.meaning.{line['canonical']}"]),
        el("span", line["reason"], class_="soft"),
        between=" ",
    )


def _map(visit: Visit, one: Row) -> Html:
    """One click gives it a meaning, and tells the receipts that were kept with it."""
    means = one["means"] or {}
    return post_form(
        visit.reader,
        f"{HERE}/codes",
        hidden("adapter", one["adapter"]),
        hidden("vendor_code", one["code"]),
        _choice(visit, means.get("canonical", "failed_perm"), f"{one['adapter']}-{one['code']}"),
        button(visit.words["vendors.give"], "quiet"),
        class_="actions",
    )


def _change(visit: Visit, one: Row) -> Html:
    words = visit.words
    line = one[one["counts"]]
    own = one["platform"] if visit.tenant_is_missing else one["tenant"]
    fields = (
        hidden("adapter", one["adapter"]),
        hidden("vendor_code", one["code"]),
        hidden("version", str(own["version"]) if own else ""),
        _choice(visit, line["canonical"], f"l-{one['adapter']}-{one['code']}"),
        text_field(
            "reason",
            words["vendors.reason"],
            line["reason"],
            id_=f"r-{one['adapter']}-{one['code']}",
            maxlength=63,
            dir="ltr",
        ),
        button(words["save"], "quiet"),
    )
    change = el("details", el("summary", words["change"]), post_form(visit.reader, f"{HERE}/codes", fields))
    remove = None
    if one["tenant"] and not visit.tenant_is_missing:
        remove = confirm(
            words,
            visit.reader,
            f"{HERE}/codes/remove",
            words["vendors.remove_line"],
            words["vendors.remove_line_question"],
            hide={
                "adapter": one["adapter"],
                "vendor_code": one["code"],
                "version": str(one["tenant"]["version"]),
            },
            id_=f"x-{one['adapter']}-{one['code']}",
        )
    return el("div", change, remove)


def _choice(visit: Visit, chosen: str, id_: str) -> Html:
    options = [(one, visit.words[f"vendors.meaning.{one}"]) for one in MEANINGS]
    return select_field("canonical", visit.words["vendors.means"], options, chosen, id_=f"m-{id_}")
