"""Asks every adapter everything, and writes what it found to docs/conformance.md: `python -m tests.conformance.adapters`."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

from tests.conformance.adapters.page import cells, page
from tests.support.generated_docs import DOCS


def main() -> int:
    """Ask, write, tell."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", str(Path(__file__).parent)]
        code = subprocess.run([*command, f"--ignore={Path(__file__).parent / 'test_page.py'}"], check=False)
        found = dict(_answer(case) for case in ET.parse(report).iter("testcase"))
    (DOCS / "conformance.md").write_text(page(found))
    yes = sum(found.get(cell, False) for cell in cells())
    sys.stdout.write(f"wrote docs/conformance.md: {yes} of {len(cells())} answers are yes\n")
    return code.returncode


def _answer(case: ET.Element) -> tuple[tuple[str, str], bool]:
    test, _, rest = case.attrib["name"].partition("[")
    return (rest.partition("]")[0].partition("@")[0], test), len(case) == 0


if __name__ == "__main__":
    sys.exit(main())
