"""Every text of the console is shown by a page, in every language; the docs list what has to be attested."""

import re
from pathlib import Path
from typing import get_args

from tidings.backoffice.attestations.actions import ACTIONS
from tidings.backoffice.console.strings import languages, strings_accepted
from tidings.backoffice.operators.model import OperatorStatus
from tidings.kernel.db import CALLER_ROLES

ROOT = Path(__file__).parents[3]
CONSOLE = ROOT / "src" / "tidings" / "backoffice" / "console"


def test_every_text_is_shown_and_every_shown_text_is_there() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in CONSOLE.glob("*.py"))
    named = set(re.findall(r"words\[[\"'](\w+)[\"']\]", code)) | set(
        re.findall(r"hint(?:: str)? ?= ?[\"'](\w+)[\"']", code)
    )
    keys = set(languages()["en"].texts)

    assert {key for key in keys if "." not in key} == named
    assert {key for key in keys if key.startswith("role.")} == {f"role.{role}" for role in CALLER_ROLES}
    assert {key for key in keys if key.startswith("status.")} == {
        f"status.{status}" for status in get_args(OperatorStatus)
    }


def test_languages_are_chosen_by_what_the_browser_asks_for_first() -> None:
    assert strings_accepted(None).language == "en"
    assert strings_accepted("de, ar;q=0.9, en;q=0.8").language == "ar"
    assert strings_accepted("fa").direction == "rtl"
    assert strings_accepted("," * 10_000).language == "en"


def test_the_docs_list_every_action_that_has_to_be_attested() -> None:
    page = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `((?:session|operator|api_key)\.\w+)` \| (.+) \|$", page, re.MULTILINE))

    assert rows == ACTIONS
