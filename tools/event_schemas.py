"""Writes the JSON Schema files of the events: `make docs`; with `--check` it compares them, also with the last release's.

`--release` makes today's schemas those of the last release.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tools.event_growth import breaking_changes

from tidings.contracts.event_schemas import FOLDER
from tidings.contracts.events import EVENTS
from tidings.kernel.event_schemas import schemas_of

RELEASED = Path(__file__).resolve().parent.parent / "tests" / "support" / "released_event_schemas.json"


def main() -> int:
    """Write the files, or say which are not as they would be written and what breaks readers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where something is wrong")
    parser.add_argument("--release", action="store_true", help="keep today's as the released ones")
    asked = parser.parse_args()
    if asked.check:
        wrong = [*stale(), *breaking_changes(released(), schemas_of(EVENTS))]
        for line in wrong:
            sys.stderr.write(f"{line}\n")
        return 1 if wrong else 0
    write()
    if asked.release:
        lines = (f"{json.dumps(name)}: {json.dumps(one)}" for name, one in schemas_of(EVENTS).items())
        RELEASED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 0


def generated() -> dict[str, str]:
    """Every file, by its name."""
    return {
        f"{subject}.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for subject, schema in schemas_of(EVENTS).items()
    }


def stale() -> list[str]:
    """A line for each file that is missing, out of date or of no event."""
    wanted = generated()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    return [
        f"{FOLDER / name} is not as the contracts say; run `make docs`"
        for name in sorted(there | wanted)
        if there.get(name) != wanted.get(name)
    ]


def write() -> None:
    """Write every file, and remove those of events that are no more."""
    wanted = generated()
    for path in FOLDER.glob("*.json"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def released() -> dict[str, dict[str, Any]]:
    """The schemas of the last release."""
    found: dict[str, dict[str, Any]] = json.loads(RELEASED.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    raise SystemExit(main())
