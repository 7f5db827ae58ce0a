"""What `docs/tutorial-templates.md` tells people to type works as it stands, with commands and with HTTP alone."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.running import PATIENCE, RunningTidings, clean_environment
from tests.support.used_data_dir import running_tidings

PAGE = Path(__file__).parents[3] / "docs" / "tutorial-templates.md"
_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$|^## ([^\n]+)$", re.MULTILINE | re.DOTALL)


@dataclass(slots=True)
class Step:
    """Something to type, and lines of what it prints."""

    section: str
    script: str
    lines: list[str] = field(default_factory=list)


def steps() -> Iterator[Step]:
    """The page's, in its order."""
    section, step = "", None
    for kind, content, heading in _BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if heading:
            section = heading
        elif kind == "sh":
            if step:
                yield step
            step = Step(section, content)
        elif step:
            step.lines += content.splitlines()
    if step:
        yield step


def run(typed: list[Step], folder: Path, running: RunningTidings) -> list[str]:
    """What each step printed, typed one after the other into one shell."""
    tools = folder / "bin"
    tools.mkdir()
    for name, command in (
        ("tidings", f'"{sys.executable}" -m tidings "$@"'),
        ("python3", f'"{sys.executable}" "$@"'),
    ):
        (tools / name).write_text(f"#!/bin/sh\nexec {command}\n")
        (tools / name).chmod(0o755)
    mark = "@@ next step @@"
    done = subprocess.run(
        ["bash", "-c", f"\necho '{mark}'\n".join(step.script for step in typed)],
        cwd=folder,
        env=clean_environment(
            PATH=f"{tools}:/usr/bin:/bin",
            TIDINGS_DATA_DIR=str(running.data_dir),
            COLUMNS="200",
            LC_ALL="C.UTF-8",
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=4 * PATIENCE,
        check=False,
    )
    assert done.stdout.count(mark) == len(typed) - 1, done.stdout
    return done.stdout.split(mark)


@pytest.fixture(scope="module")
def running() -> Iterator[RunningTidings]:
    """One for both ways: each makes a tenant of its own."""
    with running_tidings() as running:
        yield running


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl, as the page does")
@pytest.mark.parametrize("way", ["With commands", "With HTTP"])
def test_the_page(way: str, running: RunningTidings, tmp_path: Path) -> None:
    """Every line that the page promises is printed by the step before it."""
    typed = [step for step in steps() if step.section in ("The files", way)]

    printed = run(typed, tmp_path, running)

    for step, output in zip(typed, printed, strict=True):
        for line in step.lines:
            assert line in output, (step.script, output)
    assert "Traceback" not in "".join(printed)
    page = (tmp_path / "welcome.html").read_text(encoding="utf-8")
    assert "ps-AF" in page
    assert "<script" not in page
