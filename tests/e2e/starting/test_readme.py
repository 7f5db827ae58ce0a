"""What the README tells a newcomer to type works as it stands."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.running import RunningTidings, clean_environment

ROOT = Path(__file__).parents[3]


def code_lines() -> list[str]:
    """The indented lines, with continuation lines joined."""
    text = re.sub(r" \\\n +", " ", (ROOT / "README.md").read_text())
    return [line.strip() for line in text.splitlines() if line.startswith("    ")]


def test_it_leads_with_the_two_commands_and_ci_runs_the_second() -> None:
    """`make up` and `make test` come first, and CI calls what the README says."""
    first, second = code_lines()[:2]

    assert first.startswith("make up")
    assert second.startswith("make test")
    assert "make test" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl, as the README does")
def test_the_first_five_minutes(data_dir: Path, tmp_path: Path) -> None:
    """Read the key out of demo.json, make another key with it."""
    script = [
        line for line in code_lines() if line.startswith(("KEY=", 'curl -H "Authorization: Bearer $KEY"'))
    ]
    assert len(script) == 2
    (tmp_path / "tidings-data").symlink_to(data_dir)

    with RunningTidings(data_dir) as tidings:
        port = tidings.demo["base_url"].rpartition(":")[2]
        done = subprocess.run(
            ["/bin/sh", "-c", "\n".join(script).replace("8080", port).replace("python3", sys.executable)],
            cwd=tmp_path,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=True,
        )

    made = json.loads(done.stdout)
    assert "my first key" in done.stdout
    assert made["api_key"].startswith("tdk_")
