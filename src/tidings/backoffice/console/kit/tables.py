"""Tables of things, which are cards on a telephone; with filters above and pages below."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlencode

from tidings.backoffice.console.html import NOTHING, Child, Html, el
from tidings.backoffice.console.strings import ConsoleStrings

T = TypeVar("T")


# Without slots: `Column[Row](…)` could not be made, as typing notes the type on what it makes.
@dataclass(frozen=True)
class Column(Generic[T]):
    """A column: its heading, what it shows of a row, and `num` for numbers or `grow` for the one that takes the room."""

    heading: str
    cell: Callable[[T], Child]
    kind: str | None = None


def table(
    caption: str,
    columns: Sequence[Column[T]],
    rows: Sequence[T],
    *,
    href: Callable[[T], str | None] | None = None,
    empty: Child = None,
) -> Html:
    """A table; `href` is where a row leads: its first cell is the link, and j, k and Enter go along the rows."""
    if not rows:
        return el("div", empty) if empty else NOTHING
    heads = [el("th", column.heading, scope="col", class_=column.kind) for column in columns]
    lines = [_row(columns, row, href(row) if href else None) for row in rows]
    made = el(
        "table",
        el("caption", caption, class_="unseen"),
        el("thead", el("tr", heads)),
        el("tbody", lines),
        class_="list",
    )
    return el("div", made, class_="scroll", role="region", aria_label=caption, tabindex="0")


def pager(words: ConsoleStrings, path: str, query: Mapping[str, str | None], next_cursor: str | None) -> Html:
    """Leads to older rows, and back to the newest. `query` has the filters, and the cursor of this page."""
    kept = {key: value for key, value in query.items() if value and key != "cursor"}
    links = []
    if query.get("cursor"):
        links.append(el("a", words["newest"], href=address(path, kept), rel="first"))
    if next_cursor:
        older = address(path, {**kept, "cursor": next_cursor})
        links.append(el("a", words["older"], href=older, rel="next", class_="button quiet"))
    return el("nav", links, class_="pager", aria_label=words["pages"]) if links else NOTHING


def address(path: str, query: Mapping[str, str | None]) -> str:
    """A path with its query; what is empty is left out."""
    given = urlencode({key: value for key, value in query.items() if value})
    return f"{path}?{given}" if given else path


def _row(columns: Sequence[Column[T]], row: T, href: str | None) -> Html:
    cells = []
    for place, column in enumerate(columns):
        shown: Child = column.cell(row)
        if href and place == 0:
            shown = el("a", shown, href=href)
        cells.append(el("td", shown, class_=column.kind, data_label=column.heading))
    return el("tr", cells, data_row=True)
