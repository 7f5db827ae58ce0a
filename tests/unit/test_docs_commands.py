"""Commands in the docs can be typed as they stand there."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.support.generated_docs import DOCS
from tidings.cli.main import app

ROOT = DOCS.parent
_SPAN = re.compile(r"`(tidings [^`]+)`")
_LINE = re.compile(r"^\s*(?:\$ |> )?(?:[A-Z_]+=\S+ )*(tidings [^#\n]+)", re.MULTILINE)
_FENCE = re.compile(r"^\s*```.*?^\s*```", re.MULTILINE | re.DOTALL)


def typed(text: str) -> Iterator[str]:
    """Every command of a page: in a line of code, or between backticks."""
    fenced = _FENCE.findall(text)
    rest = _FENCE.sub("", text)
    indented = "\n".join(line for line in rest.splitlines() if line.startswith("    "))
    for block in (*fenced, indented):
        yield from _LINE.findall(block)
    yield from _SPAN.findall(rest)


@cache
def tidings() -> Any:
    """All commands."""
    return typer.main.get_command(app)


def mistake_in(command: str) -> str | None:
    """What can't be typed so; None where all can."""
    here = tidings()
    words = command.replace("\\|", "|").replace("[", " ").replace("]", " ").split()[1:]
    while words and hasattr(here, "commands"):
        name = words.pop(0)
        if name.startswith("-") or name == "…":
            break
        found = [here.commands.get(one) for one in name.rstrip(".,;:").split("|")]
        if None in found:
            return f"{command}: there is no {name}"
        here = found[0]
    known = {option for one in here.params for option in (*one.opts, *one.secondary_opts)} | {"--help"}
    for word in words:
        option = word.partition("=")[0].rstrip(",.;")
        if option.startswith("--") and len(option) > 2 and option not in known:
            return f"{command}: there is no {option}"
    return None


PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_exists(page: Path) -> None:
    assert [wrong for command in typed(page.read_text()) if (wrong := mistake_in(command))] == []


def test_a_wrong_command_is_found() -> None:
    """A test of the test: it reads lines, spans and options."""
    page = "`tidings adaptor list`\n\n    $ tidings adapter check x --dry\n\n```sh\ntidings channel sat sms\n```\n"

    assert [mistake_in(one) for one in typed(page)] == [
        "tidings channel sat sms: there is no sat",
        "tidings adapter check x --dry: there is no --dry",
        "tidings adaptor list: there is no adaptor",
    ]
