"""What commands print: other people's words as a terminal may show them, JSON, money, moments."""

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

#: Controls, line ends and what turns the direction of a line: a terminal would obey them.
_OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

_FRACTION = re.compile(r"(?<=:\d\d)\.\d+")


def shown(text: str | None) -> str:
    """`text` on one line, with a question mark for what can't be shown."""
    return _OBEYED.sub("?", text or "")


def print_json(value: object) -> None:
    """As programs read it."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


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


def print_lines(lines: "Iterable[Text]") -> None:
    """Styled lines; without colours, and never broken, where no terminal reads them."""
    from rich.console import Console

    console = Console(highlight=False)
    for line in lines:
        line.rstrip()
        console.print(line, soft_wrap=True)
