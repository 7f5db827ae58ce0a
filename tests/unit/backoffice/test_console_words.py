"""Every text of the console is shown by a page, in every language; the docs list what has to be attested."""

import re
from pathlib import Path
from typing import get_args

import pytest
from babel.messages.pofile import read_po

from tidings.backoffice.attestations.actions import ACTIONS
from tidings.backoffice.console.places import GROUPS, PLACES
from tidings.backoffice.console.strings import languages, strings_accepted
from tidings.backoffice.operators.model import OperatorStatus
from tidings.kernel.db import CALLER_ROLES

ROOT = Path(__file__).parents[3]
CONSOLE = ROOT / "src" / "tidings" / "backoffice" / "console"
AREAS = sorted(path.parent for path in CONSOLE.glob("*/translations"))


#: Labels of values: what stands before the last dot, and whatever names the values.
LABELS = ("error", "role", "status", "told", "group", "place", "channel")


def code_of(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))


def keys_of(folder: Path) -> set[str]:
    with (folder / "translations" / "source.pot").open("rb") as opened:
        return {str(message.context) for message in read_po(opened) if message.id}


def test_every_text_is_shown_and_every_shown_text_is_there() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in CONSOLE.rglob("*.py"))
    named = set(re.findall(r"words\[[\"'](\w+)[\"']\]", code)) | set(
        re.findall(r"hint(?:: str)? ?= ?[\"'](\w+)[\"']", code)
    )
    keys = keys_of(CONSOLE)

    assert {key for key in keys if "." not in key} == named & keys
    assert named <= keys
    assert {key.partition(".")[0] for key in keys if "." in key} == set(LABELS)
    assert {key for key in keys if key.startswith("role.")} == {f"role.{role}" for role in CALLER_ROLES}
    assert {key for key in keys if key.startswith("status.")} == {
        f"status.{status}" for status in get_args(OperatorStatus)
    }
    assert {key for key in keys if key.startswith("place.")} == {f"place.{one.key}" for one in PLACES}
    assert {key for key in keys if key.startswith("group.")} == {f"group.{one}" for one in GROUPS if one}


@pytest.mark.parametrize("area", AREAS, ids=lambda area: area.name)
def test_an_area_has_its_texts_and_shows_them_all(area: Path) -> None:
    """Its keys begin with its name; one with a further dot is the label of a value, and its pages name what it is the value of."""
    code, keys = code_of(area), keys_of(area)
    literal = set(re.findall(r"[\"']([a-z_]+(?:\.[a-z0-9_]+)+)[\"']", code))
    prefixes = set(re.findall(r"f[\"']([a-z_.]+\.)\{", code))
    if "status_badge(" in code:
        prefixes.add(f"{area.name}.status.")

    assert {key for key in keys if not key.startswith((f"{area.name}.", "told.", "error."))} == set()
    unseen = {key for key in keys if key not in literal and not key.startswith(tuple(prefixes))}
    assert {key for key in unseen if not key.startswith(("told.", "error."))} == set()
    known = set(languages()["en"].texts)
    assert {key for key in literal if key.startswith(f"{area.name}.")} - known - prefixes == set()


def test_languages_are_chosen_by_what_the_browser_asks_for_first() -> None:
    assert strings_accepted(None).language == "en"
    assert strings_accepted("de, ar;q=0.9, en;q=0.8").language == "ar"
    assert strings_accepted("fa").direction == "rtl"
    assert strings_accepted("," * 10_000).language == "en"


def test_the_docs_list_every_action_that_has_to_be_attested() -> None:
    page = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
    rows = dict(
        re.findall(
            r"^\| `((?:session|operator|api_key|credential|tenant|raw|passkey|lock|note|recipient|suppression)\.\w+)` \| (.+) \|$",
            page,
            re.MULTILINE,
        )
    )

    assert rows == ACTIONS
