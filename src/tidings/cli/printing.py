"""What other people wrote, as a terminal may show it."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

#: Controls, line ends and what turns the direction of a line: a terminal would obey them.
_OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def shown(text: str | None) -> str:
    """`text` on one line, with a question mark for what can't be shown."""
    return _OBEYED.sub("?", text or "")


def print_lines(lines: "Iterable[Text]") -> None:
    """Styled lines; without colours, and never broken, where no terminal reads them."""
    from rich.console import Console

    console = Console(highlight=False)
    for line in lines:
        line.rstrip()
        console.print(line, soft_wrap=True)
