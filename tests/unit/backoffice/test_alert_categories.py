"""Every category of alerts is documented, has its texts in every language, and a page that helps where there is one."""

import re
from pathlib import Path

from tidings.backoffice.console.alerts.advice import ADVICE
from tidings.backoffice.console.strings import languages

DOCS = Path(__file__).parents[3] / "docs" / "alerts.md"


def test_the_docs_list_every_category_that_the_console_knows() -> None:
    listed = set(
        re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \| [^|]+ \| [^|]+ \|$", DOCS.read_text(), re.MULTILINE)
    )

    assert listed == set(ADVICE)


def test_every_category_has_its_texts_in_every_language() -> None:
    for words in languages().values():
        for part in ("title", "meaning", "todo"):
            known = {key.rpartition(".")[2] for key in words.texts if key.startswith(f"alerts.{part}.")}
            assert known == set(ADVICE), (words.language, part)
