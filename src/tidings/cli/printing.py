"""What commands print: other people's words as a terminal may show them, JSON, money, moments."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn
    from rich.text import Text

#: Controls, line ends and what turns the direction of a line: a terminal would obey them.
_OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

_DIFF_STYLES = {"@": "cyan", "+": "green", "-": "red"}
_FRACTION = re.compile(r"(?<=:\d\d)\.\d+")


def shown(text: str | None) -> str:
    """`text` on one line, with a question mark for what can't be shown."""
    return _OBEYED.sub("?", text or "")


def json_text(value: object) -> str:
    """JSON, indented, with every letter as it is, but what a terminal would obey, and moments in ISO 8601."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=_json_value)
    # The only line ends in it are those between its lines.
    return _OBEYED.sub(lambda one: one[0] if one[0] == "\n" else f"\\u{ord(one[0]):04x}", text)


def _json_value(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def picked(thing: object, *names: str) -> dict[str, Any]:
    """These attributes of an object by their names; `adapter=account_id` shows one under another name."""
    pairs = [name.partition("=") for name in names]
    return {name: getattr(thing, attribute or name) for name, _, attribute in pairs}


def money(micros: int, currency: str | None) -> str:
    """An amount in plain figures, such as 0.0075 USD."""
    return f"{(Decimal(micros) / 1_000_000).normalize():f} {currency or ''}".rstrip()


def counted(many: int, what: str) -> str:
    """1 retry, 2 retries."""
    if many == 1:
        return f"1 {what}"
    return f"{many} {what.removesuffix('y')}ies" if what.endswith("y") else f"{many} {what}s"


def to_the_second(moment: str) -> str:
    """A moment of the API without its fractions of a second."""
    return _FRACTION.sub("", moment)


def diff_lines(before: Sequence[str], after: Sequence[str], names: tuple[str, str]) -> "Iterator[Text]":
    """A unified diff, in the colours of git."""
    from rich.text import Text

    for line in difflib.unified_diff(before, after, *names, lineterm=""):
        style = "bold" if line.startswith(("---", "+++")) else _DIFF_STYLES.get(line[:1], "")
        yield Text(shown(line.replace("\t", "    ")), style)


def progress_bar(amount: "ProgressColumn") -> "Progress":
    """A bar on standard error, with what it counts; none where that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def print_lines(lines: "Iterable[Text]") -> None:
    """Styled lines; without colours, and never broken, where no terminal reads them."""
    from rich.console import Console

    console = Console(highlight=False)
    for line in lines:
        line.rstrip()
        console.print(line, soft_wrap=True)


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Rows below their heads, in columns as wide as their longest cell."""
    cells = [heads, *([shown("" if cell is None else str(cell)) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    for row in cells:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
